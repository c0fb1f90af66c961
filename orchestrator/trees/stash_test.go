package trees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
)

// What is left of the stash is, byte for byte, what git stash drop leaves.
func TestUnstashIsAGitStashDrop(t *testing.T) {
	t.Parallel()
	const fill = "for i in 1 2 3; do echo $i > seed.txt; git stash push -q -m $i; done"
	for name, c := range map[string]struct {
		before, drops string
		at            int
	}{
		"newest":       {fill, "stash@{0}", 2},
		"in between":   {fill, "stash@{1}", 1},
		"oldest":       {fill, "stash@{2}", 0},
		"the only one": {"echo 1 > seed.txt; git stash push -q -m 1", "stash@{0}", 0},
		"packed":       {fill + "; git pack-refs --all", "stash@{0}", 2},
		"packed, old":  {fill + "; git pack-refs --all", "stash@{2}", 0},
		"odd messages": {"echo 1 > seed.txt; git stash push -q -m '\t a (b) \\'; " + fill, "stash@{3}", 0},
		"a dead lock":  {fill + "; touch -d yesterday .git/refs/stash.lock", "stash@{1}", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTreeLab(t)
			l.Sh(c.before + "; cp -r . ../gits")
			list, err := Stash(l.tree.Repo)
			if err != nil || c.at >= len(list) {
				t.Fatal(list, err)
			}
			if err := Unstash(t.Context(), l.tree.Repo, list[c.at]); err != nil {
				t.Fatal(err)
			}
			const left = "git stash list --format='%H %gd %gs'; cat .git/logs/refs/stash || true; git rev-parse -q --verify refs/stash || true; find .git -name 'stash?*'"
			if got, want := l.Sh(left), l.Sh("cd ../gits; rm -f .git/refs/stash.lock; git stash drop -q '"+c.drops+"'; "+left); got != want {
				t.Errorf("the stash holds\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// What is not in the stash is not taken out of it, and a log that cannot be one is nobody's.
func TestUnstashNothing(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"no stash": "true", "another's": "echo 1 > seed.txt; git stash push -q -m 1", "a folder": "mkdir -p .git/logs/refs/stash/x", "a pipe": "mkdir -p .git/logs/refs; mkfifo .git/logs/refs/stash",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTreeLab(t)
			l.Sh(before)
			was := l.Sh("git stash list 2>&1; find .git | sort")
			if err := Unstash(t.Context(), l.tree.Repo, Stashed{strings.Repeat("1", 40), "On main: 1"}); err != nil {
				t.Error(err)
			}
			if now := l.Sh("git stash list 2>&1; find .git | sort"); now != was {
				t.Errorf("there was\n%s\nand is\n%s", was, now)
			}
		})
	}
}

// Somebody who holds git's lock is waited for, and one who ends waits no longer.
func TestUnstashWaits(t *testing.T) {
	t.Parallel()
	l := newTreeLab(t)
	l.Sh("for i in 1 2; do echo $i > seed.txt; git stash push -q -m $i; done")
	list, err := Stash(l.tree.Repo)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	l.Sh("touch -d tomorrow .git/refs/stash.lock")
	go func() { ended <- takeOut(ctx, l.tree.Repo, list[0]) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if !l.There(".git/refs/stash.lock") {
		t.Error("another's lock is gone")
	}
}

// Whoever stashes while entries are taken out: theirs stay, and those that were meant go.
func TestUnstashBesideOthers(t *testing.T) {
	t.Parallel()
	const each = 15
	l := newTreeLab(t)
	l.Sh(fmt.Sprintf("for i in $(seq %d); do git stash store -m meant-$i $(git commit-tree -m $i -p HEAD HEAD^{tree}); done", each))
	list, err := Stash(l.tree.Repo)
	if err != nil || len(list) != each {
		t.Fatal(list, err)
	}
	var together errgroup.Group
	together.Go(func() error {
		for _, e := range slices.Backward(list) {
			if err := Unstash(t.Context(), l.tree.Repo, e); err != nil {
				return err
			}
		}
		return nil
	})
	l.Sh(fmt.Sprintf("for i in $(seq %d); do git -c core.filesRefLockTimeout=10000 stash store -m theirs-$i $(git commit-tree -m theirs-$i -p HEAD HEAD^{tree}); done", each))
	if err := together.Wait(); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range each {
		want = append(want, fmt.Sprintf("theirs-%d", each-i))
	}
	if got := strings.Fields(l.Git("stash", "list", "--format=%gs")); !slices.Equal(got, want) {
		t.Errorf("the stash holds %q", got)
	}
	if got := l.Git("rev-parse", "stash"); got != l.Git("rev-parse", "stash@{0}") {
		t.Error("the ref and its log do not say the same")
	}
	if _, err := os.Lstat(l.Path(".git/refs/stash.lock")); err == nil {
		t.Error("the lock is left behind")
	}
}
