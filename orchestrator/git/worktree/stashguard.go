package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"relay/reanchor/git"
)

// StashGuard keeps the user's stash as it is with isolation none: an agent that stashes, has a look and pops again takes
// the user's last entry when it had nothing to stash itself.
type StashGuard struct {
	Repo *git.Repo
	Epic string // id: what relay keeps is kept below refs/relay/EPIC

	mu     sync.Mutex
	theirs []StashEntry // the user's, oldest first
	back   []StashEntry // of theirs, what was put back once
}

// Record remembers what is the user's.
func (g *StashGuard) Record() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.theirs, err = Stash(g.Repo)
	return err
}

// Mend puts back what is gone of the user's entries, once: they may have dropped it themselves. It returns what a person
// should know. New entries are the user's from now on.
func (g *StashGuard) Mend(ctx context.Context, byAgent bool) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := Stash(g.Repo)
	if err != nil || slices.Equal(now, g.theirs) {
		return nil, err
	}
	release, err := git.LockRepository(ctx, g.Repo)
	if err != nil {
		return nil, err
	}
	for _, e := range now {
		if !slices.Contains(g.theirs, e) {
			g.theirs = append(g.theirs, e)
		}
	}
	notes, err := g.restore(ctx, byAgent)
	return notes, errors.Join(err, release())
}

// restore puts back what is gone of the user's entries: each once, and as often as an agent is known to have taken it out.
func (g *StashGuard) restore(ctx context.Context, byAgent bool) (notes []string, err error) {
	now, err := Stash(g.Repo)
	if err != nil {
		return nil, err
	}
	var still []StashEntry
	for _, e := range g.theirs {
		if !slices.Contains(now, e) {
			if byAgent {
				g.back = slices.DeleteFunc(g.back, func(b StashEntry) bool { return b == e })
			}
			note, back, err := g.putBack(ctx, e)
			if note != "" {
				notes = append(notes, note)
			}
			if err != nil {
				return notes, err
			}
			if !back {
				continue
			}
		}
		still = append(still, e)
	}
	g.theirs = still
	return notes, nil
}

// putBack puts an entry back that has gone, unless it has been put back before, and says what became of it.
func (g *StashGuard) putBack(ctx context.Context, e StashEntry) (note string, back bool, err error) {
	switch {
	case !git.Has(ctx, g.Repo, e.Commit):
		return "", false, nil // no agent's doing: it takes a git gc that spares nothing
	case slices.Contains(g.back, e):
		ref := g.ref(e)
		note = fmt.Sprintf("%.80q had gone from your stash again; relay leaves it so, and keeps it as %s", e.Message, ref)
		return note, false, g.git(ctx, "update-ref", "--", ref, e.Commit)
	}
	g.back = append(g.back, e)
	note = fmt.Sprintf("%.80q had gone from your stash; relay put it back, on top of the others: if that was you, git stash drop it again, and it stays away", e.Message)
	return note, true, g.git(ctx, "stash", "store", "--message", e.Message, e.Commit)
}

// ref keeps an entry that is no longer in the stash.
func (g *StashGuard) ref(e StashEntry) string {
	return "refs/relay/" + g.Epic + "/stash/" + e.Commit
}

func (g *StashGuard) git(ctx context.Context, args ...string) error {
	_, err := g.Repo.Run(ctx, git.Writing(args...))
	return err
}
