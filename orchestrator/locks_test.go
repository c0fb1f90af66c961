package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"relay/attempts"
)

// Whoever changes shared refs, or takes away what git has left among them, waits until it is their turn.
func TestRepositoryLock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(l *lab) error
		done func(l *lab) bool
	}{
		"keep": {
			func(l *lab) error { return l.c.tree.keep(l.Context(), "refs/relay/e/T1/1", l.git("rev-parse", "HEAD")) },
			func(l *lab) bool { return l.there(".git/refs/relay/e/T1/1") },
		},
		"unlock": {
			func(l *lab) error { return l.c.tree.unlock(l.Context()) },
			func(l *lab) bool { return !l.there(".git/refs/relay/e/T1/2.lock") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "")
			l.write(".git/refs/relay/e/T1/2.lock", "")
			release, err := lockRepository(t.Context(), l.c.repo)
			if err != nil {
				t.Fatal(err)
			}
			acted := make(chan error)
			go func() { acted <- c.act(l) }()
			// Having looked for the lock in vain it is waiting, or it never looked and is done.
			for range 6 {
				if _, err := attempts.Hold(filepath.Join(l.root, ".git", repositoryLock), attempts.Holder{}); err == nil {
					t.Fatal("the lock is not held")
				}
			}
			if c.done(l) {
				t.Error("it did not wait for its turn")
			}
			if err := release(); err != nil {
				t.Fatal(err)
			}
			if err := <-acted; err != nil {
				t.Fatal(err)
			}
			if !c.done(l) {
				t.Error("it was not done in its turn")
			}
			if l.there(".git/" + repositoryLock) {
				t.Error("the lock is left behind")
			}
		})
	}
}

func (l *lab) there(path string) bool {
	_, err := os.Lstat(filepath.Join(l.root, path))
	return err == nil
}

// An agent that removes or changes the lock of the checkout does not let another run in; one that is in by then ends
// this one.
func TestOccupancyIsKept(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	mine, err := occupy(t.Context(), l.c.o)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(".git", mine.name)
	for name, harm := range map[string]string{
		"removed": `rm ` + path, "changed": `echo x >> ` + path, "a folder": `rm ` + path + `; mkdir -p ` + path + `/x`, "all of it": `cp -r .git copy; rm -rf .git; mv copy .git`,
	} {
		l.sh(harm)
		if err := mine.keep(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if who, err := attempts.HeldBy(filepath.Join(l.root, path)); err != nil || who == nil || who.Epic != l.c.o.Epic.ID || who.Dir != ".agents-os/relay" {
			t.Errorf("%s: held by %v, %v", name, who, err)
		}
	}
	l.sh(`rm ` + path)
	other := *l.c.o
	other.Run, other.Dir = "20260101T220000Z-0001", filepath.Join(l.root, "elsewhere")
	theirs, err := occupy(t.Context(), &other)
	if err != nil {
		t.Fatal(err)
	}
	var inUse *InUseError
	if err := mine.keep(t.Context()); !errors.As(err, &inUse) {
		t.Errorf("somebody else is in: got %v", err)
	}
	if err := errors.Join(theirs.leave(), mine.leave()); err != nil {
		t.Error(err)
	}
}

// Who leaves the checkout alone needs no lock of it.
func TestOccupancyOfNobody(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	o := *l.c.o
	o.Isolation = "worktree"
	c, err := occupy(t.Context(), &o)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := filepath.Glob(filepath.Join(l.root, ".git", "relay-*")); len(entries) > 0 {
		t.Errorf("locks are there: %v", entries)
	}
	if err := errors.Join(c.keep(t.Context()), c.leave()); err != nil {
		t.Error(err)
	}
}
