package status

import (
	"testing"

	"relay/attempts"
	"relay/cmd/relay/internal/project"
	"relay/configs"
)

func TestFix(t *testing.T) {
	t.Parallel()
	p := &project.Project{Config: &configs.Config{}}
	p.Config.Relay.Agents = map[string]configs.Agent{
		"claude": {Type: "claude"}, "mine": {Type: "claude", Argv: []string{"npx", "claude"}}, "codex": {Type: "codex"},
		"gemini": {Type: "gemini"}, "opencode": {Type: "opencode", Argv: []string{"/opt/bin/opencode"}}, "sh": {Type: "command", Argv: []string{"sh"}},
	}
	for name, want := range map[string]string{
		"claude":   "claude, then /login (or claude setup-token)",
		"mine":     "npx claude, then /login (or npx claude setup-token)",
		"codex":    "codex login",
		"gemini":   "gemini, then /auth",
		"opencode": "/opt/bin/opencode auth login",
		"sh":       "relay config relay.agents.sh",
	} {
		if got := Fix(p, nil, name, attempts.Auth, ""); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := Fix(p, nil, "claude", attempts.Start, ""); got != "relay check --ask" {
		t.Errorf("got %q", got)
	}
}
