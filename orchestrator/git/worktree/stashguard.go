package worktree

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"relay/epic/plaintext"
	"relay/reanchor/git"
)

// StashGuard keeps the entries of the user's stash with isolation none: an agent that stashes, has a look and pops again takes
// the user's last entry when it had nothing to stash itself.
type StashGuard struct {
	Repo *git.Repo
	Epic string // id: what relay keeps is kept below refs/relay/EPIC

	mu     sync.Mutex
	theirs []StashEntry // oldest first
}

// Record remembers what is the user's.
func (g *StashGuard) Record() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.theirs, err = Stash(g.Repo)
	return err
}

// Mend keeps the entries that are gone, and returns for each where it is and how to bring it back. New entries are the user's from now on.
func (g *StashGuard) Mend(ctx context.Context) (notes []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := Stash(g.Repo)
	if err != nil {
		return nil, err
	}
	for _, e := range g.theirs {
		if slices.Contains(now, e) || !git.Has(ctx, g.Repo, e.Commit) {
			continue
		}
		ref := "refs/relay/" + g.Epic + "/stash/" + e.Commit
		if _, err := g.Repo.Run(ctx, git.Writing("update-ref", "--", ref, e.Commit)); err != nil {
			return notes, err
		}
		notes = append(notes, fmt.Sprintf("%.80q is gone from your stash; if that was not you: git stash store -m %s %s",
			e.Message, plaintext.ShellWord(e.Message), ref))
	}
	g.theirs = now
	return notes, nil
}
