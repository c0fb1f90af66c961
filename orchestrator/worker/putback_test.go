package worker

import (
	"fmt"
	"testing"

	"relay/attempts"
	"relay/epic"
)

// In the user's checkout as well, a check does not go by what an earlier one has made of a protected file.
func TestProtectedFilesBetweenChecks(t *testing.T) {
	t.Parallel()
	l := newLab(t, "rm real; echo 'echo true > tests/a.txt' > build.sh")
	l.Write("tests/a.txt", "test -e real\n")
	l.Write("real", "")
	l.Git("add", "real")
	l.Git("commit", "-qam", "accept")
	l.c.run.o.Epic.Protected = []string{"tests/**"}
	l.c.run.o.Epic.Checks = []epic.Check{{Name: "accept", Run: "sh tests/a.txt"}}
	f := l.begin().try(epic.Task{Checks: []epic.Check{{Name: "build", Run: "sh build.sh"}}}, nil)
	if f.Outcome != attempts.Check || f.Receipt.ErrorSummary != "accept: exit status 1" || texts(f.Notes) != "tests/a.txt, which is protected, was changed while build ran; relay put it back" {
		t.Errorf("%s (%s): %q", f.Outcome, f.Receipt.ErrorSummary, texts(f.Notes))
	}
}

// A check that prints without end is no check that takes too long.
func TestFloodIsNoTimeLimit(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	y.l.run.o.Limits.OutputCap = 1 << 10
	f := y.does("T1", "echo x > x", "test ! -e x || yes").Result
	if want := "test ! -e x || yes printed far more than is kept of its output, and was stopped"; f.Outcome != attempts.Check || f.Receipt.ErrorSummary != want {
		t.Errorf("%s: %q, want %q", f.Outcome, f.Receipt.ErrorSummary, want)
	}
}

// What an agent leaves in relay's configuration, or puts into its work, is told: the next run goes by it.
func TestSettingsAreTold(t *testing.T) {
	t.Parallel()
	l := newLab(t, "true")
	o := l.slotOptions()
	o.Files = []string{l.Path(".agents.yml"), l.Path(".agents.local.yml")}
	y := l.inSlots(o)
	local := l.Path(".agents.local.yml")
	for i, c := range []struct{ script, want string }{
		{"echo 'relay: {}' > " + local, local + " was changed; this run uses the old version, and the next one the new: if that was not you, look at it"},
		{"true", ""},
		{"rm " + local + "; echo 'relay: {}' > .agents.yml", "the agent changed .agents.yml, which configures relay wherever that lands"},
	} {
		if f := y.does(fmt.Sprintf("T%d", i), "echo x > x; "+c.script).Result; f.Outcome != attempts.Success || texts(f.Notes) != c.want {
			t.Errorf("%s: %s: %q", c.script, f.Outcome, texts(f.Notes))
		}
	}
}
