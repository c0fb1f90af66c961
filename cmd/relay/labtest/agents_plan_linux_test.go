package labtest

import (
	"strings"
	"testing"

	"relay/cmd/relay/internal/exit"
	"relay/runners/runnertest/modelserver"
)

// TestRealAgentsPlan has each CLI make a plan: its first answer cannot be used, and it mends that in the session in which it has answered.
func TestRealAgentsPlan(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newAgentLab(t, patient, cliNamed(t, name))
			l.model.Play(name,
				modelserver.Step{Say: "# Greet\n\n##### T1: Write hello.txt\n- **Checks:** `grep -q hello hello.txt`\n", When: "T1 depends on itself"},
				modelserver.Step{Say: "# Greet\n\n##### T1: Write hello.txt\n- **Depends on:** T1\n- **Checks:** `nosuchprogram`\n"})
			before := l.git("status", "--porcelain")
			r := l.run("plan", "Greet the world", "--yes")
			r.wants(t, exit.OK)
			r.says(t, "answer 1 of 3 cannot be used: line 4: task T1 depends on itself")
			if said := r.stdout.String(); !strings.Contains(said, name+" has made this in 2 answers") {
				t.Errorf("it says %s", said)
			}
			l.answered(name, "say", "say")
			if now := l.git("status", "--porcelain"); now != before {
				t.Errorf("the checkout has changed: %s", now)
			}
			if said := l.run("graph").stdout.String(); !strings.Contains(said, "T1  p2  Write hello.txt") {
				t.Errorf("relay graph says %s", said)
			}
		})
	}
}
