package orchestrator

import (
	"errors"
	"path/filepath"
	"testing"
)

// A task works in a worktree, its commits get their trailers, and land.
func TestFromYardToTrunk(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	ctx := t.Context()
	base := l.git("rev-parse", "HEAD")
	tr := newTrunk(l.c.repo, "lab", LandingMerge)
	y := &yard{repo: l.c.repo, dir: filepath.Join(l.root, ".agents-os", "relay", "worktrees")}
	if err := unsuited(ctx, l.c.repo); err != nil {
		t.Fatal(err)
	}
	must := func(got string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if tip := must(tr.begin(ctx, base)); tip != base {
		t.Errorf("it begins at %s", tip)
	}
	site, err := y.site(ctx, "1", base, "relay-tasks/lab/T1")
	if err != nil {
		t.Fatal(err)
	}
	l.sh(`cd .agents-os/relay/worktrees/1; echo x > new; git add new; git commit -q -m New`)
	if _, err := y.open(ctx, "1", base, ""); err != nil {
		t.Error(err)
	}
	made := must(site.Head(ctx))
	head := must(tr.stamp(ctx, base, made, []string{"Relay-Task: T1"}))
	merged := must(tr.join(ctx, base, head, cargo{base: base, message: "T1: One\n"}))
	closed := must(tr.close(ctx, base, merged, "Batch\n"))
	if err := tr.advance(ctx, base, closed); err != nil {
		t.Fatal(err)
	}
	if held, err := tr.holds(ctx, head); err != nil || !held {
		t.Errorf("it does not hold what landed: %v", err)
	}
	if names, err := y.names(ctx); err != nil || len(names) != 1 || names[0] != "1" {
		t.Errorf("names are %q, %v", names, err)
	}
	if lost := must(y.loss(ctx, "1")); lost != "" {
		t.Errorf("%s would be lost", lost)
	}
	if err := errors.Join(y.remove(ctx, "1"), y.unbranch(ctx, "relay-tasks/lab/T1", made)); err != nil {
		t.Error(err)
	}
}
