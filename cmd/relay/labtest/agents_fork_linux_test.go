package labtest

import (
	"encoding/json"
	"strings"
	"testing"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// TestRealAgentsFork branches a session of each CLI before relay asked it for the result: the agent gets the record.
func TestRealAgentsFork(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex", "gemini", "opencode"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agentForks(t, cliNamed(t, name))
		})
	}
}

func agentForks(t *testing.T, c agentCLI) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.write(".agents-os/relay/epic.yml", strings.Replace(agentPlan, `, checks: ["grep -qx hello hello.txt"]`, "", 1))
	l.model.Play(c.name, modelserver.Step{Write: "mango.txt", Text: "ripe\n"}, modelserver.Step{Say: "I wrote it."},
		modelserver.Step{Claim: "Wrote it.", When: "You ended without a result"})
	l.work(terminal.OK)
	l.done("")
	turn := l.field(`SELECT id FROM agent_turns WHERE parent_turn_id IS NOT NULL`)

	l.model.Play(c.name, modelserver.Step{Claim: "It is told what came later.", When: "You ended without a result"},
		modelserver.Step{Claim: "It was mango.txt.", When: "mango.txt"}, modelserver.Step{Claim: "There was none."})
	r := l.run("sessions", "fork", turn, "--query", "Which file was it?", "--json")
	r.wants(t, terminal.OK)
	var got struct{ From, Session, Outcome, Summary string }
	if err := json.Unmarshal(r.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome != "success" || got.Summary != "It was mango.txt." || got.Session == "" || got.Session == got.From {
		t.Errorf("the fork came to %+v\n%s", got, r.stderr.String())
	}
}

// field returns what a query of one field finds in the agents ledger.
func (l *agentLab) field(query string) string {
	l.t.Helper()
	r := l.run("sessions", "sql", query)
	r.wants(l.t, terminal.OK)
	lines := strings.Split(strings.TrimSpace(r.stdout.String()), "\n")
	return lines[len(lines)-1]
}
