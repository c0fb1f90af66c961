package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/reanchor"
)

// stashGuard keeps the user's stash as it is. All worktrees of a repository share one, and an agent that stashes, has
// a look and pops again takes the user's last entry when it had nothing to stash itself.
type stashGuard struct {
	repo *reanchor.Git
	epic string

	mu     sync.Mutex
	theirs []stashed // the user's, oldest first
}

// stashed is one entry of the stash.
type stashed struct{ commit, message string }

// begin remembers what is the user's.
func (g *stashGuard) begin() (err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.theirs, err = g.read()
	return err
}

// settle puts back what is gone of the user's entries, and takes out what was stashed on branch, which is an agent's:
// that is kept under a ref. It returns what a person should know. What is new and not an agent's is the user's from now on.
func (g *stashGuard) settle(ctx context.Context, branch string) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, err := g.read()
	if err != nil || slices.Equal(now, g.theirs) {
		return nil, err
	}
	release, err := lockRepository(ctx, g.repo)
	if err != nil {
		return nil, err
	}
	notes, err := g.sort(ctx, now, branch)
	return notes, errors.Join(err, release())
}

func (g *stashGuard) sort(ctx context.Context, now []stashed, branch string) (notes []string, err error) {
	for _, e := range now {
		switch {
		case slices.Contains(g.theirs, e):
		case e.onTask() && e.on(branch):
			ref := "refs/relay/" + g.epic + "/stash/" + e.commit
			if err := errors.Join(g.git(ctx, "update-ref", "--", ref, e.commit), g.drop(ctx, e)); err != nil {
				return notes, err
			}
			notes = append(notes, "the agent left something in the stash, which is yours too: it is kept as "+ref)
		case !e.onTask():
			g.theirs = append(g.theirs, e)
		}
	}
	if now, err = g.read(); err != nil {
		return notes, err
	}
	for _, e := range g.theirs {
		if slices.Contains(now, e) {
			continue
		}
		if err := g.git(ctx, "stash", "store", "--message", e.message, e.commit); err != nil {
			return notes, err
		}
		notes = append(notes, fmt.Sprintf("%.80q had gone from your stash; relay put it back", e.message))
	}
	return notes, nil
}

// dropTries bounds how often an entry is dropped that moves while somebody else stashes.
const dropTries = 3

// drop removes an entry. It has no name but its place in the list, which changes when somebody stashes meanwhile: sort
// puts back what was hit instead.
func (g *stashGuard) drop(ctx context.Context, e stashed) error {
	for range dropTries {
		now, err := g.read()
		if err != nil {
			return err
		}
		at := slices.Index(now, e)
		if at < 0 {
			return nil
		}
		if err := g.git(ctx, "stash", "drop", "--quiet", fmt.Sprintf("stash@{%d}", len(now)-1-at)); err != nil {
			return err
		}
	}
	return nil
}

// on reports whether an entry was made on a branch.
func (e stashed) on(branch string) bool {
	return strings.HasPrefix(e.message, "WIP on "+branch+": ") || strings.HasPrefix(e.message, "On "+branch+": ")
}

// onTask reports whether an entry was made on the branch of any task: an agent that runs now may want it back.
func (e stashed) onTask() bool {
	return strings.HasPrefix(e.message, "WIP on relay-tasks/") || strings.HasPrefix(e.message, "On relay-tasks/")
}

// maxStash bounds what is read of the stash: an entry takes some two hundred bytes.
const maxStash = 4 << 20

// read lists the stash from its log, oldest first: after most attempts it is what it was, and no git is needed.
func (g *stashGuard) read() ([]stashed, error) {
	f, err := os.Open(filepath.Join(g.repo.CommonDir(), "logs", "refs", "stash"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxStash))
	var list []stashed
	for line := range strings.Lines(string(data)) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 {
			list = append(list, stashed{commit: fields[1], message: message})
		}
	}
	return list, err
}

func (g *stashGuard) git(ctx context.Context, args ...string) error {
	_, err := g.repo.Run(ctx, writing(args...))
	return err
}

// unstash puts the user's stash right after an attempt, and notes what was found.
func (c *checkout) unstash(ctx context.Context, f *Finding) error {
	ctx, cancel := settling(ctx)
	defer cancel()
	notes, err := c.stash.settle(ctx, strings.TrimPrefix(c.tree.branch, "refs/heads/"))
	for _, text := range notes {
		f.note("stash", text)
	}
	return err
}
