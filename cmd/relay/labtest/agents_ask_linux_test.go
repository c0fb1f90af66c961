package labtest

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/runners/runnertest/modelserver"
)

// relay check --ask has the real CLIs answer, or say why they do not, and begins no run.
func TestRealAgentsAsked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex"} {
		for _, c := range []struct {
			what, state, says string
			step              modelserver.Step
			code              int
		}{
			{"works", "ok", "answers (", modelserver.Step{Say: "OK"}, terminal.OK},
			{"not logged in", "fail", "is not logged in, or may not be used: ", modelserver.Step{Fault: modelserver.Unauthorized}, terminal.NoRunner},
			{"usage limit", "warn", "has come to its usage limit until ", modelserver.Step{Fault: modelserver.UsedUp, Reset: 3 * time.Hour}, terminal.OK},
		} {
			t.Run(name+" "+c.what, func(t *testing.T) {
				t.Parallel()
				l := newAgentLab(t, patient, cliNamed(t, name))
				l.model.Play(name, c.step)
				r := l.run("check", "--ask", "--json")
				r.wants(t, c.code)
				var got struct {
					Points []struct{ Name, State, Message string }
				}
				if err := json.Unmarshal(r.stdout.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				last := ""
				for _, p := range got.Points {
					if p.Name == "runner "+name {
						last = p.State + " " + p.Message // what is asked comes behind what is found
					}
				}
				if !strings.HasPrefix(last, c.state+" "+c.says) {
					t.Errorf("got %q, want %s %s…", last, c.state, c.says)
				}
				if asked := len(l.model.Asked(name)); asked == 0 || asked > 4 {
					t.Errorf("the model was asked %d times", asked)
				}
				if _, err := os.Lstat(l.path(".agents-os/relay/runs")); err == nil {
					t.Error("a run began")
				}
				l.quiet()
			})
		}
	}
}
