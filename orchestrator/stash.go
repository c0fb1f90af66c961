package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/orchestrator/trees"
	"relay/reanchor"
)

// stashGuard keeps the user's stash as it is. All worktrees of a repository share one, and an agent that stashes, has
// a look and pops again takes the user's last entry when it had nothing to stash itself.
type stashGuard struct {
	repo *reanchor.Git
	epic string
	file string // where the user's entries are written down while the run is on; "": nowhere

	mu     sync.Mutex
	pinned bool            // see pin
	theirs []trees.Stashed // the user's, oldest first
	back   []trees.Stashed // of theirs, what was put back once
	went   []trees.Stashed // again: left so, and told, which is not for sure before the attempt's end is on disk
}

// stasher is an attempt that may have stashed.
type stasher struct {
	repo   *reanchor.Git // where it works
	branch string        // its own
	alone  bool          // no other is under way
	took   bool          // its agent has taken entries out of the stash
}

// begin remembers what is the user's.
func (g *stashGuard) begin(ctx context.Context) (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.theirs, err = trees.Stash(g.repo); err != nil {
		return err
	}
	return g.jot(ctx)
}

// settle puts back what is gone of the user's entries, once: they may have dropped it themselves. And it takes out what the attempt has stashed: that is kept
// under a ref. It returns what a person should know. What is new and not an agent's is the user's from now on.
func (g *stashGuard) settle(ctx context.Context, by stasher) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := trees.Stash(g.repo)
	if err != nil || slices.Equal(now, g.theirs) {
		return nil, err
	}
	release, err := trees.LockRepository(ctx, g.repo)
	if err != nil {
		return nil, err
	}
	notes, err := g.sort(ctx, now, by)
	return notes, errors.Join(err, release(), g.jot(ctx))
}

func (g *stashGuard) sort(ctx context.Context, now []trees.Stashed, by stasher) (notes []string, err error) {
	for _, e := range now {
		switch {
		case slices.Contains(g.theirs, e):
		case e.OnTask() && e.On(by.branch), e.On("(no branch)") && g.detached(ctx, e, by):
			ref := g.ref(e)
			if err := errors.Join(g.git(ctx, "update-ref", "--", ref, e.Commit), trees.Unstash(ctx, g.repo, e)); err != nil {
				return notes, err
			}
			notes = append(notes, "the agent left something in the stash, which is yours too: it is kept as "+ref)
		case !e.OnTask() && (by.alone || !e.On("(no branch)")):
			g.theirs = append(g.theirs, e)
		}
	}
	back, err := g.restore(ctx, by.took)
	return append(notes, back...), err
}

// restore puts back what is gone of the user's entries: each once, and as often as an agent is known to have taken it out.
func (g *stashGuard) restore(ctx context.Context, byAgent bool) (notes []string, err error) {
	now, err := trees.Stash(g.repo)
	if err != nil {
		return nil, err
	}
	var still []trees.Stashed
	for _, e := range g.theirs {
		if !slices.Contains(now, e) {
			if byAgent {
				g.back = slices.DeleteFunc(g.back, func(b trees.Stashed) bool { return b == e })
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
func (g *stashGuard) putBack(ctx context.Context, e trees.Stashed) (note string, back bool, err error) {
	switch {
	case !trees.Has(ctx, g.repo, e.Commit):
		return "", false, nil // no agent's doing: it takes a git gc that spares nothing
	case slices.Contains(g.back, e):
		ref := g.ref(e)
		note = fmt.Sprintf("%.80q had gone from your stash again; relay leaves it so, and keeps it as %s", e.Message, ref)
		g.went = append(g.went, e)
		return note, false, g.git(ctx, "update-ref", "--", ref, e.Commit)
	}
	g.back = append(g.back, e)
	note = fmt.Sprintf("%.80q had gone from your stash; relay put it back, on top of the others: if that was you, git stash drop it again, and it stays away", e.Message)
	return note, true, g.git(ctx, "stash", "store", "--message", e.Message, e.Commit)
}

// ref keeps an entry that is no longer in the stash.
func (g *stashGuard) ref(e trees.Stashed) string {
	return "refs/relay/" + g.epic + "/stash/" + e.Commit
}

// detached reports whether an entry made on no branch was made in the attempt's worktree: its commit has been HEAD there,
// and the user's own checkout has not left a branch for it. When others are under way, which may have begun from the same
// commit, the attempt must have left its branch for it.
func (g *stashGuard) detached(ctx context.Context, e trees.Stashed, by stasher) bool {
	if by.repo.GitDir() == g.repo.GitDir() {
		return false
	}
	out, err := g.repo.Run(ctx, reanchor.Call{Args: []string{"rev-parse", "--verify", "--end-of-options", e.Commit + "^1"}})
	parent := strings.TrimSpace(string(out))
	return err == nil && !leftFor(g.repo, parent, false) && leftFor(by.repo, parent, by.alone)
}

// leftFor reports whether a checkout has left its branch for a commit, or with anyhow has been at it.
func leftFor(repo *reanchor.Git, commit string, anyhow bool) bool {
	path := filepath.Join(repo.GitDir(), "logs", "HEAD")
	if !readable(path) {
		return false
	}
	log, _ := os.ReadFile(path) // gone meanwhile: not known
	for line := range strings.Lines(string(log)) {
		entry, message, _ := strings.Cut(strings.TrimSpace(line), "\t")
		_, to, moved := strings.Cut(message, "checkout: moving from ")
		_, to, _ = strings.Cut(to, " to ")
		left := strings.HasPrefix(message, "rebase") || moved && (to == "HEAD" || to == commit)
		if fields := strings.Fields(entry); len(fields) > 1 && fields[1] == commit && (left || anyhow) {
			return true
		}
	}
	return false
}

func (g *stashGuard) git(ctx context.Context, args ...string) error {
	_, err := g.repo.Run(ctx, trees.Writing(args...))
	return err
}

// unstash puts the user's stash right after an attempt, and notes what was found.
func (c *checkout) unstash(ctx context.Context, f *Finding) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	notes, err := c.stash.settle(ctx, stasher{c.repo, strings.TrimPrefix(c.tree.Branch, "refs/heads/"), c.alone == nil || c.alone(), slices.ContainsFunc(c.did, gitCommand.takesStash)})
	for _, text := range notes {
		f.note("stash", text)
	}
	return err
}
