package labtest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// Keys of a provider reach the agents that use it, and neither the others nor setup and acceptance commands; relay's own
// variables reach the agent.
func TestKeysReachTheirAgentsOnly(t *testing.T) {
	needsMore(t)
	t.Parallel()
	const agents = `relay:
  runners: [command]
  isolation: worktree
  env: [SHARED_*]
  max_failed_in_a_row: 0
  max_same_error: 0
  worktree: {setup: ['env > "$HOME/setup.env"']}
  agents:
    command: {type: command, argv: [%[1]q], env: [OWN_TOKEN, SAID=here]}
    claude: {argv: [%[1]q]}
    codex: {argv: [%[1]q]}
    gemini: {argv: [%[1]q]}
    opencode: {argv: [%[1]q]}
`
	plan := "version: 2\nid: 20260101-keys\ntitle: Keys\ntasks:\n"
	for _, name := range []string{"command", "claude", "codex", "gemini", "opencode"} {
		plan += fmt.Sprintf("  %s: {title: %[1]s, runner: %[1]s, max_attempts: 1, checks: [{name: c, run: 'env > \"$HOME/check.env\"'}]}\n", name)
	}
	l := newLab(t, plan, `env > "$HOME/$RELAY_TASK.env"; echo x > x.txt; ok`)
	cli := l.inHome("cli")
	l.write(cli, "#!/bin/sh\nexec sh \"$HOME/agent.sh\"\n")
	if err := os.Chmod(cli, 0o755); err != nil {
		t.Fatal(err)
	}
	l.settings(fmt.Sprintf(agents, cli))
	l.env = append(l.env, "RELAY_ISOLATION=worktree", "ANTHROPIC_API_KEY=ka", "OPENAI_API_KEY=ko", "GEMINI_API_KEY=kg", "AWS_PROFILE=kw", "OWN_TOKEN=kown", "SHARED_X=ks", "GITHUB_TOKEN=kh")
	l.end(l.start("work"))

	keys := []string{"ANTHROPIC_API_KEY=ka", "AWS_PROFILE=kw", "GEMINI_API_KEY=kg", "GITHUB_TOKEN=kh", "OPENAI_API_KEY=ko", "OWN_TOKEN=kown", "SAID=here", "SHARED_X=ks"}
	for who, want := range map[string]string{
		"setup":    "SHARED_X=ks",
		"check":    "SHARED_X=ks",
		"claude":   "ANTHROPIC_API_KEY=ka AWS_PROFILE=kw SHARED_X=ks",
		"codex":    "AWS_PROFILE=kw OPENAI_API_KEY=ko SHARED_X=ks",
		"gemini":   "GEMINI_API_KEY=kg SHARED_X=ks",
		"opencode": "ANTHROPIC_API_KEY=ka AWS_PROFILE=kw GEMINI_API_KEY=kg OPENAI_API_KEY=ko SHARED_X=ks",
		"command":  "ANTHROPIC_API_KEY=ka AWS_PROFILE=kw GEMINI_API_KEY=kg OPENAI_API_KEY=ko OWN_TOKEN=kown SAID=here SHARED_X=ks",
	} {
		env := strings.Split(l.read(l.inHome(who+".env")), "\n")
		var got []string
		for _, key := range keys {
			if slices.Contains(env, key) {
				got = append(got, key)
			}
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s gets %s, want %s", who, got, want)
		}
	}
	env := l.read(l.inHome("command.env"))
	for _, want := range []string{
		"RELAY_EPIC=20260101-keys\n", "RELAY_TASK=command\n", "RELAY_ATTEMPT=", "/command/1\n", "RELAY_RESULT=" + l.path(".agents-os/relay/runs/"), "RELAY_DIR=" + l.path(".agents-os/relay") + "\n", "RELAY_PROMPT=",
	} {
		if !strings.Contains(env, want) {
			t.Errorf("the agent does not get %q:\n%s", want, env)
		}
	}
}
