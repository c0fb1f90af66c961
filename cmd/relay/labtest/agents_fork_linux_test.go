package labtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"relay/cmd/relay/internal/exit"
	"relay/runners/runnertest/modelserver"
)

// TestRealAgentsFork has each CLI go on from before its session was asked for the result: one that can from its own session, cut there and
// left as it was, and the others told the record.
func TestRealAgentsFork(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{
		"claude":   "",
		"codex":    "codex goes on in a copy of a whole session only",
		"gemini":   "",
		"opencode": "opencode goes on in a copy of a whole session only, and in the folder in which that began",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agentForks(t, cliNamed(t, name), why)
		})
	}
}

func agentForks(t *testing.T, c agentCLI, why string) {
	t.Helper()
	l := newAgentLab(t, patient, c)
	l.env = append(l.env, "RELAY_ISOLATION=worktree")
	l.write(".agents-os/relay/epic.yml", strings.Replace(agentPlan, `, checks: ["grep -qx hello hello.txt"]`, "", 1))
	l.model.Play(c.name, modelserver.Step{Write: "mango.txt", Text: "ripe\n"}, modelserver.Step{Say: "I wrote it."},
		modelserver.Step{Claim: "Wrote it.", When: "You ended without a result"})
	l.work(exit.OK)
	l.done("")
	turn := l.field(`SELECT id FROM agent_turns WHERE parent_turn_id IS NOT NULL`)
	old := l.sessionFiles(l.field(`SELECT session_id FROM agent_turns WHERE parent_turn_id IS NOT NULL`))

	l.model.Play(c.name, modelserver.Step{Claim: "It is told what came later.", When: "You ended without a result"},
		modelserver.Step{Claim: "It was mango.txt.", When: "mango.txt"}, modelserver.Step{Claim: "There was none."})
	r := l.run("sessions", "fork", turn, "--query", "Which file was it?", "--json")
	r.wants(t, exit.OK)
	var got struct {
		From, Session, Outcome, Summary string
		Native                          bool
		Input                           int `json:"input_tokens"`
	}
	if err := json.Unmarshal(r.stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Outcome != "success" || got.Summary != "It was mango.txt." || got.Native != (why == "") || got.Session == "" || got.Session == got.From {
		t.Errorf("the fork came to %+v\n%s", got, r.stderr.String())
	}
	if why != "" {
		r.says(t, c.name+" is told the record of the conversation: "+why)
		return
	}
	if got.Input != 1000 {
		t.Errorf("it is said to have read %d tokens, want the 1000 of its own request", got.Input)
	}
	if len(old) == 0 {
		t.Error("no file of the old session was found")
	}
	for path, text := range old {
		if now, err := os.ReadFile(path); err != nil || string(now) != text {
			t.Errorf("%s has changed (%v)", path, err)
		}
	}
}

// field returns what a query of one field finds in the agents ledger.
func (l *agentLab) field(query string) string {
	l.t.Helper()
	r := l.run("sessions", "sql", query)
	r.wants(l.t, exit.OK)
	lines := strings.Split(strings.TrimSpace(r.stdout.String()), "\n")
	return lines[len(lines)-1]
}

// sessionFiles returns the files below the lab's home that are named after a session, with what is in them.
func (l *agentLab) sessionFiles(session string) map[string]string {
	l.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(l.home, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(d.Name(), session[:8]) {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return files
}
