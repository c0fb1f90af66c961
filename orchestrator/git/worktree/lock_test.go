package worktree

import (
	"path/filepath"
	"testing"

	"relay/attempts"
	"relay/reanchor/git"
)

// Whoever changes shared refs, or takes away what git has left among them, waits until it is their turn.
func TestRepositoryLock(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(l *lab) error
		done func(l *lab) bool
	}{
		"keep": {
			func(l *lab) error {
				return l.tree.Keep(l.Context(), "refs/relay/e/T1/1", l.Git("rev-parse", "HEAD"))
			},
			func(l *lab) bool { return l.There(".git/refs/relay/e/T1/1") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newTreeLab(t)
			l.Write(".git/refs/relay/e/T1/2.lock", "")
			release, err := git.LockRepository(t.Context(), l.tree.Repo)
			if err != nil {
				t.Fatal(err)
			}
			acted := make(chan error)
			go func() { acted <- c.act(l) }()
			// Having looked for the lock in vain it is waiting, or it never looked and is done.
			for range 6 {
				if _, err := attempts.Hold(filepath.Join(l.Root, ".git", git.RepositoryLock), attempts.Holder{}); err == nil {
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
			if l.There(".git/" + git.RepositoryLock) {
				t.Error("the lock is left behind")
			}
		})
	}
}
