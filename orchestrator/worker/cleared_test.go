package worker

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/epic"
	"relay/internal/slowtest"
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

// What a git prune beside an agent's git has taken away of its commits is committed again, from its files.
func TestCommitsOfAgentsThatAreClearedAway(t *testing.T) {
	t.Parallel()
	const (
		clears = `clears() { h=$(git rev-parse "$1"); rm -f "$(git rev-parse --git-common-dir)/objects/$(echo "$h" | cut -c1-2)/$(echo "$h" | cut -c3-)"; }; `
		two    = clears + "echo 0 > zero; git add zero; git commit -qm zero; echo 1 > one; touch -d yesterday one; git add one; git commit -qm one; "
		want   = "git prune has deleted objects of this attempt that no branch had yet: its files are committed again"
	)
	for name, c := range map[string]struct{ script, noted string }{
		"a commit":         {two + "clears HEAD", want},
		"an older commit":  {two + "clears HEAD~1", want},
		"a tree":           {two + "clears HEAD^{tree}", want},
		"a file":           {two + "clears HEAD:one", want},
		"what is staged":   {two + "echo 2 > two; touch -d yesterday two; git add two; clears :two; git update-index --refresh", want},
		"all that it made": {two + "for o in $(git rev-parse HEAD:zero HEAD:one HEAD^{tree} HEAD~1^{tree} HEAD~1 HEAD); do clears $o; done", want},
		"nothing":          {two + "true", ""},
	} {
		t.Run(name, func(t *testing.T) {
			slowtest.OneIn(t, 3)
			t.Parallel()
			y := newSlotLab(t)
			r := y.proved("T1", c.script, "test -e one")
			if got := y.step(r); got != "T1 success" {
				t.Error(got)
			}
			if got := texts(r.Result.Notes); got != c.noted {
				t.Errorf("noted %q", got)
			}
			if got := y.Git("rev-list", "--objects", "relay/20260101-lab"); !strings.Contains(got, " zero") || !strings.Contains(got, " one") {
				t.Errorf("the branch holds\n%s", got)
			}
		})
	}
}
