package trees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"relay/reanchor"
)

// Yard makes, reuses and removes worktrees: folders below dir in which tasks and checks work. The user's checkout, its
// index and its stash stay as they are, and so do worktrees that are not below dir.
type Yard struct {
	Repo    *reanchor.Git                                               // of the user's repository
	Dir     string                                                      // where worktrees are, absolute
	Lock    func(ctx context.Context) (release func() error, err error) // of the repository's list of worktrees, across processes; nil: none
	Before  func(ctx context.Context) error                             // a checkout: see that it goes by the right rules; nil: nothing
	workers int                                                         // of one checkout; 0: one for each CPU

	turn  sync.Mutex // of whoever changes the list
	mu    sync.Mutex
	real  string           // dir without symbolic links, as it was at first
	plots map[string]*plot // worktrees made by this yard, by name
}

// TaskBranches is where the branches are that tasks work on.
const TaskBranches = "relay-tasks/"

// buildTries bounds how often a worktree is made anew: a git of the user's may be at work on the same list.
const buildTries = 3

// Site returns worktree name at exactly commit, with nothing else left in it: on branch (its name without refs/heads/),
// which is made or moved there, or detached when branch is "". Whatever was in it before is gone: see loss.
//
// One that relay has left is used again: git then writes only what is different. One that an agent has damaged is made
// anew.
func (y *Yard) Site(ctx context.Context, name, commit, branch string) (*reanchor.Git, error) {
	path, err := y.path(name)
	if err != nil {
		return nil, err
	}
	if y.Before != nil {
		if err := y.Before(ctx); err != nil {
			return nil, err
		}
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
		if clearing := errors.Join(Unlatch(y.Repo, "refs/heads/"+branch), makeWay(ctx, y.Repo, "refs/heads/"+branch)); clearing != nil {
			return nil, errors.Join(err, clearing)
		}
	}
	return nil, fmt.Errorf("worktree %s: %w", name, err)
}

// Remove removes worktree name and whatever is in it. That nothing is lost by it, the caller has seen: see loss.
func (y *Yard) Remove(ctx context.Context, name string) error {
	path, err := y.path(name)
	if err != nil {
		return err
	}
	return y.alone(ctx, func() error { return y.clear(name, path) })
}

// clear removes a worktree's folder and what git knows of it. Call it alone.
func (y *Yard) clear(name, path string) error {
	y.forget(name)
	_ = os.Remove(filepath.Join(path, ".git")) // first: what is not there without it, nobody has removed as their work
	if err := RemoveTree(path); err != nil {
		return err
	}
	entries, err := y.entries(filepath.Dir(path))
	for _, e := range entries {
		if e.path == path {
			err = errors.Join(err, RemoveTree(e.admin))
		}
	}
	_ = os.Remove(y.admins()) // as git does with the last one; it stays when there are others
	return err
}

// Names returns the worktrees that there are: whatever stands in dir, and those that git knows of.
func (y *Yard) Names(_ context.Context) ([]string, error) {
	dir, err := y.ground(false)
	if err != nil {
		return nil, err
	}
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
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

// Unbranch deletes a branch (its name without refs/heads/) that still is at commit.
func (y *Yard) Unbranch(ctx context.Context, branch, commit string) (err error) {
	ref := "refs/heads/" + branch
	for range 3 { // by then a lock that stood in the way at first is too old for anybody alive
		if _, err = y.Repo.Run(ctx, Writing("update-ref", "--no-deref", "-d", ref, commit)); err == nil || ctx.Err() != nil {
			return err
		}
		if unlocking := Unlatch(y.Repo, ref); unlocking != nil {
			return errors.Join(err, unlocking)
		}
	}
	return err
}

// alone does what changes the repository's list of worktrees.
func (y *Yard) alone(ctx context.Context, change func() error) (err error) {
	y.turn.Lock()
	defer y.turn.Unlock()
	if y.Lock != nil {
		release, err := y.Lock(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	return change()
}
