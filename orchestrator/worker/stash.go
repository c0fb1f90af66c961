package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/userfiles"
	"relay/reanchor"
)

// stashGuard keeps the user's stash as it is with isolation none: an agent that stashes, has a look and pops again takes
// the user's last entry when it had nothing to stash itself.
type stashGuard struct {
	repo *reanchor.Git
	epic string

	mu     sync.Mutex
	theirs []userfiles.StashEntry // the user's, oldest first
	back   []userfiles.StashEntry // of theirs, what was put back once
}

// begin remembers what is the user's.
func (g *stashGuard) begin() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.theirs, err = userfiles.Stash(g.repo)
	return err
}

// settle puts back what is gone of the user's entries, once: they may have dropped it themselves. It returns what a person
// should know. What is new is the user's from now on.
func (g *stashGuard) settle(ctx context.Context, byAgent bool) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := userfiles.Stash(g.repo)
	if err != nil || slices.Equal(now, g.theirs) {
		return nil, err
	}
	release, err := gitcmd.LockRepository(ctx, g.repo)
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
func (g *stashGuard) restore(ctx context.Context, byAgent bool) (notes []string, err error) {
	now, err := userfiles.Stash(g.repo)
	if err != nil {
		return nil, err
	}
	var still []userfiles.StashEntry
	for _, e := range g.theirs {
		if !slices.Contains(now, e) {
			if byAgent {
				g.back = slices.DeleteFunc(g.back, func(b userfiles.StashEntry) bool { return b == e })
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
func (g *stashGuard) putBack(ctx context.Context, e userfiles.StashEntry) (note string, back bool, err error) {
	switch {
	case !gitcmd.Has(ctx, g.repo, e.Commit):
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
func (g *stashGuard) ref(e userfiles.StashEntry) string {
	return "refs/relay/" + g.epic + "/stash/" + e.Commit
}

func (g *stashGuard) git(ctx context.Context, args ...string) error {
	_, err := g.repo.Run(ctx, gitcmd.Writing(args...))
	return err
}

// unstash puts the user's stash right after an attempt, and notes what was found.
func (c *checkout) unstash(ctx context.Context, f *state) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	notes, err := c.stash.settle(ctx, slices.ContainsFunc(c.did, gitCommand.takesStash))
	for _, text := range notes {
		f.Note("stash", text)
	}
	return err
}
