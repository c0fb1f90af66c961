package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"relay/reanchor"
)

// yard makes, reuses and removes worktrees: folders below dir in which tasks and checks work. The user's checkout, its
// index and its stash stay as they are, and so do worktrees that are not below dir.
type yard struct {
	repo    *reanchor.Git                                               // of the user's repository
	dir     string                                                      // where worktrees are, absolute
	lock    func(ctx context.Context) (release func() error, err error) // of the repository's list of worktrees, across processes; nil: none
	workers int                                                         // of one checkout; 0: one for each CPU

	turn  sync.Mutex // of whoever changes the list
	mu    sync.Mutex
	real  string           // dir without symbolic links, as it was at first
	plots map[string]*plot // worktrees made by this yard, by name
}

// buildTries bounds how often a worktree is made anew: a git of the user's may be at work on the same list.
const buildTries = 3

// site returns worktree name at exactly commit, with nothing else left in it: on branch (its name without refs/heads/),
// which is made or moved there, or detached when branch is "". Whatever was in it before is gone: see loss.
//
// One that relay has left is used again: git then writes only what is different. One that an agent has damaged is made
// anew.
func (y *yard) site(ctx context.Context, name, commit, branch string) (*reanchor.Git, error) {
	path, err := y.path(name)
	if err != nil {
		return nil, err
	}
	s := site{yard: y, name: name, path: path, commit: commit, branch: branch}
	if p := y.plot(name); p != nil {
		if repo, err := s.reuse(ctx, p); err == nil || ctx.Err() != nil {
			return repo, err
		}
	}
	for range buildTries {
		var repo *reanchor.Git
		if repo, err = s.build(ctx); err == nil || ctx.Err() != nil {
			return repo, err
		}
		if unlocking := unlatch(y.repo, "refs/heads/"+branch); unlocking != nil {
			return nil, errors.Join(err, unlocking)
		}
	}
	return nil, fmt.Errorf("worktree %s: %w", name, err)
}

// remove removes worktree name and whatever is in it. That nothing is lost by it, the caller has seen: see loss.
func (y *yard) remove(ctx context.Context, name string) error {
	path, err := y.path(name)
	if err != nil {
		return err
	}
	return y.alone(ctx, func() error { return y.clear(name, path) })
}

// clear removes a worktree's folder and what git knows of it. Call it alone.
func (y *yard) clear(name, path string) error {
	y.forget(name)
	if err := removeTree(path); err != nil {
		return err
	}
	entries, err := y.entries(filepath.Dir(path))
	for _, e := range entries {
		if e.path == path {
			err = errors.Join(err, removeTree(e.admin))
		}
	}
	_ = os.Remove(y.admins()) // as git does with the last one; it stays when there are others
	return err
}

// names returns the worktrees that there are: whatever stands in dir, and those that git knows of.
func (y *yard) names(_ context.Context) ([]string, error) {
	dir, err := y.ground(false)
	if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name())
	}
	entries, err := y.entries(dir)
	for _, e := range entries {
		names = append(names, filepath.Base(e.path))
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// unbranch deletes a branch (its name without refs/heads/) that still is at commit.
func (y *yard) unbranch(ctx context.Context, branch, commit string) (err error) {
	ref := "refs/heads/" + branch
	for range 3 { // by then a lock that stood in the way at first is too old for anybody alive
		if _, err = y.repo.Run(ctx, writing("update-ref", "--no-deref", "-d", ref, commit)); err == nil || ctx.Err() != nil {
			return err
		}
		if unlocking := unlatch(y.repo, ref); unlocking != nil {
			return errors.Join(err, unlocking)
		}
	}
	return err
}

// alone does what changes the repository's list of worktrees.
func (y *yard) alone(ctx context.Context, change func() error) (err error) {
	y.turn.Lock()
	defer y.turn.Unlock()
	if y.lock != nil {
		release, err := y.lock(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	return change()
}
