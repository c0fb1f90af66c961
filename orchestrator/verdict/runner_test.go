package verdict

import (
	"testing"

	"relay/runners"
)

// What an agent was at is told where it was ended, and nowhere else.
func TestEndedWhile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report      runners.Report
		doing, want string
	}{
		{runners.Report{Outcome: runners.SilenceLimit, Detail: "no output for too long"}, "Bash make", "no output for too long; the last it did: Bash make"},
		{runners.Report{Outcome: runners.WallLimit}, "Bash make", "the agent ran out of time; the last it did: Bash make"},
		{runners.Report{Outcome: runners.WallLimit, Detail: "time limit passed"}, "", "time limit passed"},
		{runners.Report{Outcome: runners.Failed, Detail: "exit status 1"}, "Bash make", "exit status 1"},
	} {
		if got := EndedWhile(c.report, c.doing); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
