package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"relay/reanchor"
)

// yard makes, reuses and removes worktrees: folders below dir in which tasks and checks work.
type yard struct {
	repo    *reanchor.Git                                               // of the user's repository
	dir     string                                                      // where worktrees are, absolute
	lock    func(ctx context.Context) (release func() error, err error) // of the repository's list of worktrees, across processes; nil: none
	workers int                                                         // of one checkout; 0: one for each CPU
	mu      sync.Mutex
}

// site returns worktree name at exactly commit, with nothing else left in it: on branch (its name without refs/heads/),
// which is made or moved there, or detached when branch is "". Whatever was in it before is gone: see loss.
func (y *yard) site(ctx context.Context, name, commit, branch string) (*reanchor.Git, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.lock != nil {
		release, err := y.lock(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { _ = release() }()
	}
	path := filepath.Join(y.dir, name)
	_, _ = y.repo.Run(ctx, writing("worktree", "remove", "--force", path)) // what is there of it, until worktrees are reused
	call := writing("-c", fmt.Sprintf("checkout.workers=%d", y.workers), "worktree", "add", "--quiet", "--force", "--detach", path, commit)
	if branch != "" {
		call = writing("-c", fmt.Sprintf("checkout.workers=%d", y.workers), "worktree", "add", "--quiet", "--force", "--no-track", "-B", branch, path, commit)
	}
	if _, err := y.repo.Run(ctx, call); err != nil {
		return nil, err
	}
	return reanchor.OpenGit(ctx, path)
}

// open returns worktree name as an attempt has left it, after it has put back what git needs to read it; its files
// stay as they are. When the folder is gone, or a link stands in its place, the error is [fs.ErrNotExist]. A worktree
// whose commit cannot be read any more is put on branch and commit, with its files as they are.
func (y *yard) open(ctx context.Context, name, _, _ string) (*reanchor.Git, error) {
	return reanchor.OpenGit(ctx, filepath.Join(y.dir, name))
}

// remove removes worktree name and whatever is in it. That nothing is lost by it, the caller has seen: see loss.
func (y *yard) remove(ctx context.Context, name string) error {
	_, err := y.repo.Run(ctx, writing("worktree", "remove", "--force", filepath.Join(y.dir, name)))
	return err
}

// names returns the worktrees that there are: folders, and those that git knows of.
func (y *yard) names(_ context.Context) ([]string, error) {
	entries, err := os.ReadDir(y.dir)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

// loss says in words what would be lost with worktree name; "" when nothing.
func (y *yard) loss(_ context.Context, _ string) (string, error) { return "", nil }

// unbranch deletes a branch (its name without refs/heads/) that still is at commit.
func (y *yard) unbranch(ctx context.Context, branch, commit string) error {
	_, err := y.repo.Run(ctx, writing("update-ref", "-d", "refs/heads/"+branch, commit))
	return err
}

// unsuited returns a [*RefusedError] for a repository in which tasks cannot work in worktrees.
func unsuited(_ context.Context, _ *reanchor.Git) error { return nil }
