package labtest

import (
	"os"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// TestRealAgentsOwn imports the sessions that each CLI has kept itself: they are those of the attempts, and have the same calls. The model
// that opencode chooses by itself is in its database alone.
func TestRealAgentsOwn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex", "gemini", "opencode"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := cliNamed(t, name)
			if name == "opencode" {
				c.model = ""
			}
			agentKeeps(t, c)
		})
	}
}

func agentKeeps(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.model.Play(c.name, modelserver.Step{Write: "hello.txt", Text: "hello\n"}, modelserver.Step{Claim: "Wrote it."})
	l.work(terminal.OK)
	l.done("")
	if c.name == "opencode" {
		for _, table := range []string{"agent_sessions", "agent_turns"} {
			if got := l.field("SELECT group_concat(DISTINCT model) FROM " + table); got != "local/model" {
				t.Errorf("the model in %s is %q", table, got)
			}
		}
	}
	folder := l.inHome(map[string]string{"opencode": ".local/share/opencode"}[c.name])
	if c.name != "opencode" {
		folder = l.inHome("." + c.name)
	}
	const calls = `SELECT group_concat(id || ' ' || session_id || ' ' || status, '; ') FROM agent_tool_calls`
	before := l.field(calls)
	r := l.run("sessions", "import", "--from", c.name, folder)
	r.wants(t, terminal.OK)
	if got := r.stderr.String(); !strings.Contains(got, "left out 1 session: the ledger has them from attempts") {
		t.Errorf("got %s\n%s", r.stdout.String(), got)
	}
	if err := os.Remove(l.path(".agents-os/relay/agents-ledger.db")); err != nil {
		t.Fatal(err)
	}
	r = l.run("sessions", "import", "--from", c.name, folder)
	r.wants(t, terminal.OK)
	if got := r.stdout.String(); !strings.HasPrefix(got, "1 session, ") || r.stderr.Len() > 0 {
		t.Errorf("got %s\n%s", got, r.stderr.String())
	}
	if after := l.field(calls); c.name != "codex" && after != before {
		t.Errorf("the calls are %q, and were %q", after, before)
	}
	if said := l.field(`SELECT group_concat(role, ' ' ORDER BY sequence) FROM agent_messages WHERE role <> 'system'`); !strings.HasPrefix(said, "user assistant") {
		t.Errorf("the messages are of %s", said)
	}
}
