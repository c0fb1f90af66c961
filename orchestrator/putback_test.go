package orchestrator

import (
	"testing"

	"relay/attempts"
	"relay/epic"
)

// In the user's checkout as well, a check does not go by what an earlier one has made of a protected file.
func TestProtectedFilesBetweenChecks(t *testing.T) {
	t.Parallel()
	l := newLab(t, "echo 'echo true > tests/a.txt' > build.sh")
	l.Write("tests/a.txt", "test -e real\n")
	l.Git("commit", "-qam", "accept")
	l.c.o.Epic.Protected = []string{"tests/**"}
	l.c.o.Epic.Checks = []epic.Check{{Name: "accept", Run: "sh tests/a.txt"}}
	f := l.begin().try(epic.Task{Checks: []epic.Check{{Name: "build", Run: "sh build.sh"}}}, nil)
	if f.Outcome != attempts.Check || f.Receipt.ErrorSummary != "accept: exit status 1" || f.texts() != "tests/a.txt, which is protected, was changed while build ran; relay put it back" {
		t.Errorf("%s (%s): %q", f.Outcome, f.Receipt.ErrorSummary, f.texts())
	}
}

// A check that prints without end is no check that takes too long.
func TestFloodIsNoTimeLimit(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	y.l.o.Limits.OutputCap = 1 << 10
	f := y.does("T1", "echo x > x", "test ! -e x || yes").Finding
	if want := "test ! -e x || yes printed far more than is kept of its output, and was stopped"; f.Outcome != attempts.Check || f.Receipt.ErrorSummary != want {
		t.Errorf("%s: %q, want %q", f.Outcome, f.Receipt.ErrorSummary, want)
	}
}
