package orchestrator

import (
	"testing"

	"relay/attempts"
	"relay/epic"
)

// late carries out an attempt that began before something else landed.
func (y *yardLab) late(id, script string, landing Ready) Ready {
	y.Helper()
	a := Assignment{Run: y.l.o.Run, Task: epic.Task{ID: id, Title: "Task " + id}, Attempt: 1, Runner: script}
	base, err := y.l.Prepare(y.Context(), a)
	if err != nil {
		y.Fatal(err)
	}
	a.Base = base
	if got, want := y.step(landing), landing.Assignment.Task.ID+" success"; got != want {
		y.Fatal(got)
	}
	f, err := y.l.Attempt(y.Context(), a)
	if err != nil || f.Outcome != attempts.Success {
		y.Fatalf("%s: %s (%s), %v", id, f.Outcome, f.Receipt.ErrorSummary, err)
	}
	return Ready{a, f}
}

// What fails on the base of a task is not held against it where the base is the tip, and nowhere else: a task can have
// taken in by itself what has mended it since.
func TestBaseExcusesNothingOnTheTip(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, want string }{
		"breaks it anew": {"echo x > bad; git add bad; git commit -qm bad; git merge -q relay/20260101-lab", "T1 conflict"},
		"leaves it be":   {"echo x > x; git add x; git commit -qm x; git merge -q relay/20260101-lab", "T1 success"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYardLab(t, "test -e fixed && test ! -e bad")
			if got := y.step(y.late("T1", c.script, y.proved("T2", "echo 2 > fixed"))); got != c.want {
				t.Errorf("got %q (%s), want %q", got, y.last.Receipt.ErrorSummary, c.want)
			}
		})
	}
}
