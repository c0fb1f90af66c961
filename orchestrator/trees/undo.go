package trees

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor"
)

// Undo has the tracked files of worktree name that protected covers be again what its commit has, and returns those
// that were not. Everything else in it stays. When the index is not as relay has left it, nobody can say what is
// tracked: the error is [ErrSpoiled]. Where a file system knows no links, nothing is looked at.
func (y *Yard) Undo(ctx context.Context, name string, protected func(path string) bool) ([]string, error) {
	p := y.plot(name)
	if p == nil {
		return nil, nil
	}
	path, err := y.path(name)
	if err != nil {
		return nil, err
	}
	s := site{yard: y, name: name, path: path, commit: p.commit}
	kept := filepath.Join(p.admin, keptIndex)
	if sum, err := fileSum(kept); err != nil || sum != p.index {
		return nil, ErrSpoiled
	}
	repo := y.Repo.Worktree(path, p.admin)
	touched, err := s.changed(ctx, repo, []string{"GIT_INDEX_FILE=" + kept}, "diff-files")
	touched = slices.DeleteFunc(touched, func(path string) bool { return !protected(path) })
	if err != nil || len(touched) == 0 {
		return nil, err
	}
	if err := errors.Join(tidyAdmin(p.admin), os.Rename(kept, filepath.Join(p.admin, "index"))); err != nil {
		return nil, err
	}
	different, err := s.changed(ctx, repo, nil, append([]string{"diff", "--no-ext-diff", "--no-textconv", "--"}, touched...)...)
	if err != nil {
		return nil, err
	}
	if _, err := repo.Run(ctx, y.git(append([]string{"checkout", "--quiet", "--force", p.commit, "--"}, touched...)...)); err != nil {
		return nil, err
	}
	return different, s.leave(p)
}

// changed lists the tracked files that a git command finds different.
func (s *site) changed(ctx context.Context, repo *reanchor.Git, env []string, args ...string) ([]string, error) {
	call := s.yard.git(slices.Insert(slices.Clone(args), 1, "--name-only", "-z")...)
	call.Env = append(call.Env, env...)
	out, err := repo.Run(ctx, call)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), nil
}

// PutBack has the files of a commit that protected covers be again what the commit has, and returns those that were not.
func (w *Tree) PutBack(ctx context.Context, commit string, protected func(path string) bool) ([]string, error) {
	changed, err := w.Differing(ctx, commit, protected)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	return changed, w.checkout(ctx, commit, changed)
}

// Differing lists the files of a commit that protected covers and that are not what the commit has.
func (w *Tree) Differing(ctx context.Context, commit string, protected func(path string) bool) ([]string, error) {
	return w.differing(ctx, commit, "a", protected) // all but added
}

func (w *Tree) differing(ctx context.Context, commit, filter string, protected func(path string) bool) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(w.Repo.GitDir(), "index")); errors.Is(err, os.ErrNotExist) { // without one all files differ
		if _, err := w.git(ctx, nil, "read-tree", "HEAD"); err != nil {
			return nil, err
		}
	}
	call := Writing("diff", "--no-ext-diff", "--no-textconv", "--name-only", "--no-renames", "--diff-filter="+filter, "-z", commit, "--")
	call.Limit = MaxPrinted
	out, err := w.Repo.Run(ctx, call)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(path string) bool { return path == "" || !protected(path) }), err
}

func (w *Tree) checkout(ctx context.Context, commit string, paths []string) error {
	_, err := w.git(ctx, strings.NewReader(strings.Join(paths, "\x00")), "checkout", "--quiet", "--force", "--pathspec-from-file=-", "--pathspec-file-nul", commit)
	return err
}

// Withdraw takes every change since a commit back of what protected covers, new files as well, and commits that.
func (w *Tree) Withdraw(ctx context.Context, commit, message string, protected func(path string) bool) (head string, err error) {
	added, err := w.differing(ctx, commit, "A", protected)
	if err == nil && len(added) > 0 {
		_, err = w.git(ctx, strings.NewReader(strings.Join(added, "\x00")), "rm", "--quiet", "--force", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
	}
	if err == nil {
		_, err = w.PutBack(ctx, commit, protected)
	}
	if err != nil {
		return "", err
	}
	return w.CommitLeftovers(ctx, message, func(string) bool { return false })
}

// Lay writes those of paths that a commit has into the checkout, and removes the others; the index stays as it is.
func (w *Tree) Lay(ctx context.Context, commit string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	args := append([]string{"ls-tree", "-r", "--name-only", "-z", commit, "--"}, paths...)
	out, err := w.git(ctx, nil, args...)
	if err != nil {
		return err
	}
	there := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if err := w.Discard(slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return slices.Contains(there, p) })); err != nil || len(out) == 0 {
		return err
	}
	_, err = w.git(ctx, strings.NewReader(strings.Join(there, "\x00")), "restore", "--worktree", "--source="+commit, "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
