package worker

import (
	"slices"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// late carries out an attempt that began before something else landed.
func (y *slotLab) late(id, script string, landing engine.Verified) engine.Verified {
	y.Helper()
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: id, Title: "Task " + id}, Number: 1, Runner: script}
	base, err := y.l.Prepare(y.Context(), a)
	if err != nil {
		y.Fatal(err)
	}
	a.Base = base
	if got, want := y.step(landing), landing.Attempt.Task.ID+" success"; got != want {
		y.Fatal(got)
	}
	f, err := y.l.Run(y.Context(), a)
	if err != nil || f.Outcome != attempts.Success {
		y.Fatalf("%s: %s (%s), %v", id, f.Outcome, f.Receipt.ErrorSummary, err)
	}
	return engine.Verified{Attempt: a, Result: f}
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
			y := newSlotLab(t, "test -e fixed && test ! -e bad")
			if got := y.step(y.late("T1", c.script, y.proved("T2", "echo 2 > fixed"))); got != c.want {
				t.Errorf("got %q (%s), want %q", got, y.last.Receipt.ErrorSummary, c.want)
			}
		})
	}
}

// What mends a check of the epic and what breaks it in another way do not land together: one after the other, the second
// one is sent back.
func TestBatchKeepsWhatOneOfItMends(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, "test -e fixed && test ! -e bad")
	y.together = true
	waiting := []engine.Verified{y.proved("T1", "echo 1 > fixed"), y.proved("T2", "echo 2 > bad"), y.proved("T3", "echo 3 > three")}
	if got := y.step(waiting...); got != "T1 success" {
		t.Fatalf("first %q, want T1 by itself", got)
	}
	if got := y.step(waiting[1]) + ", " + y.step(waiting[2]); got != "T2 conflict, T3 success" {
		t.Errorf("then %q", got)
	}
	y.holds("fixed three")
	y = newSlotLab(t, "false")
	y.together = true
	if got := y.step(y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > two")); got != "T1 success, T2 success" {
		t.Errorf("where nobody mends it: %q", got)
	}
}

// A check that fails once on the merged tree costs a further run of it, and no agent's.
func TestFlakeOnTheMergedTree(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t, `test ! -e one || test ! -e two || test ! -e "$RELAY_DIR/../../flake" || { rm "$RELAY_DIR/../../flake"; false; }`)
	y.l.run.o.Epic.Checks[0].Name = "suite"
	one, two := y.proved("T1", "echo 1 > one"), y.proved("T2", "echo 2 > two")
	y.Write("flake", "")
	if got := y.step(one) + ", " + y.step(two); got != "T1 success, T2 success" {
		t.Fatalf("got %q (%s)", got, y.last.Receipt.ErrorSummary)
	}
	const want = "suite: exit status 1 on what T2 makes with all that has landed; repeated alone it passed"
	if texts(y.last.Notes) != want {
		t.Errorf("notes: %q, want %q", texts(y.last.Notes), want)
	}
	if runs := y.last.Receipt.Checks; len(runs) != 2 ||
		slices.ContainsFunc(runs, func(run attempts.CheckRun) bool { return run.Attribution == attempts.BrokenBefore }) || runs[1].ExitCode != 0 {
		t.Errorf("checks: %+v", runs)
	}
}
