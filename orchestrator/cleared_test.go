package orchestrator

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/trees"
)

// A git gc of the user's that spares nothing takes away what relay has made this moment: it is made again.
func TestCommitsThatTheUserClearsAway(t *testing.T) {
	t.Parallel()
	y := newYardLab(t)
	a := Assignment{Run: y.l.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Attempt: 1, Base: y.l.tips.Tip()}
	w, err := y.l.open(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	y.Sh("cd " + w.c.repo.Root() + "; echo 1 > one; git add one; git commit -qm one")
	f := Finding{Outcome: attempts.Success, Head: y.Git("rev-parse", y.l.branch(a))}
	release, err := trees.LockRepository(t.Context(), y.l.home) // without it relay writes no ref
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- w.stamp(t.Context(), &f) }()
	marked := false
	for range 1000 {
		if marked = strings.Contains(y.Git("prune", "-n", "--expire=now"), " commit"); marked {
			break
		}
	}
	if !marked {
		t.Error("nothing to clear away")
	}
	y.Git("prune", "--expire=now")
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	one := Ready{a, f}
	j, err := y.l.Join(t.Context(), []Ready{one})
	if err != nil {
		t.Fatal(err)
	}
	y.Git("prune", "--expire=now")
	if moved, err := y.l.Advance(t.Context(), j); moved || err != nil {
		t.Errorf("moved: %v, %v", moved, err)
	}
	if got := y.step(one); got != "T1 success" {
		t.Error(got)
	}
	y.holds("one")
	y.Git("fsck", "--connectivity-only")
}
