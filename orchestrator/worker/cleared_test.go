package worker

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// A git gc of the user's that spares nothing takes away nothing that relay is about to land.
func TestCommitsThatTheUserClearsAway(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	a := engine.Attempt{Run: y.l.run.o.Run, Task: epic.Task{ID: "T1", Title: "One"}, Number: 1, Base: y.l.headGuard.Tip()}
	w := y.l.attempt(a)
	if err := w.gather(t.Context(), verdict.Readied); err != nil {
		t.Fatal(err)
	}
	y.Sh("cd " + w.c.repo.Root() + "; echo 1 > one; git add one; git commit -qm one")
	w.f.Outcome, w.f.Head = attempts.Success, y.Git("-C", w.c.repo.Root(), "rev-parse", "HEAD")
	if err := w.place.mark(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	y.Git("prune", "--expire=now")
	one := engine.Verified{Attempt: a, Result: w.f.Result}
	j, err := y.l.merger.Join(t.Context(), []engine.Verified{one})
	if err != nil {
		t.Fatal(err)
	}
	y.Git("prune", "--expire=now")
	if moved, err := y.l.merger.Advance(t.Context(), j); !moved || err != nil {
		t.Errorf("moved: %v, %v", moved, err)
	}
	y.holds("one")
	y.Git("fsck", "--connectivity-only")
}

// Where objects of an agent's commits are gone, the attempt ends uncharged and says why, and the next one begins again.
func TestCommitsOfAgentsThatAreClearedAway(t *testing.T) {
	t.Parallel()
	y := newSlotLab(t)
	f := y.does("T1", `echo 1 > one; git add one; git commit -qm one; h=$(git rev-parse HEAD^{tree} | sed 's,^..,&/,'); rm -f .git/objects/$h`).Result
	for _, want := range []string{"were damaged: git ", "(objects are missing, as after git prune or git gc --prune=now: type them when no run is on)"} {
		if f.Outcome != attempts.Environment || !strings.Contains(f.Receipt.ErrorSummary, want) {
			t.Errorf("%s: %s, want %s", f.Outcome, f.Receipt.ErrorSummary, want)
		}
	}
	if got := y.step(y.proved("T1", "echo 1 > one")); got != "T1 success" {
		t.Error(got)
	}
}
