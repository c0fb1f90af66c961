package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// PutBack restores the files that protected covers to what a commit has, and returns those that differed.
func (w *Tree) PutBack(ctx context.Context, commit string, protected func(path string) bool) (changed []string, err error) {
	err = w.Records.Do(ctx, func() error {
		if changed, err = w.Differing(ctx, commit, protected); err != nil || len(changed) == 0 {
			return err
		}
		return checkoutFiles(ctx, w, commit, changed)
	})
	return changed, err
}

// Differing lists the files of a commit that protected covers and that are not what the commit has.
func (w *Tree) Differing(ctx context.Context, commit string, protected func(path string) bool) (changed []string, err error) {
	err = w.Records.Do(ctx, func() error {
		changed, err = differing(ctx, w, commit, "a", protected) // all but added
		return err
	})
	return changed, err
}

func differing(ctx context.Context, w *Tree, commit, filter string, protected func(path string) bool) ([]string, error) {
	if _, err := os.Lstat(filepath.Join(w.Repo.GitDir(), "index")); errors.Is(err, os.ErrNotExist) { // without one all files differ
		if _, err := w.git(ctx, nil, "read-tree", "HEAD"); err != nil {
			return nil, err
		}
	}
	call := git.Writing("diff", "--no-ext-diff", "--no-textconv",
		"--name-only", "--no-renames", "--diff-filter="+filter, "-z", commit, "--")
	call.Limit = git.MaxPrinted
	out, err := w.Repo.Run(ctx, call)
	paths := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(path string) bool { return path == "" || !protected(path) })
	return Unconverted(ctx, w.Repo, commit, paths), err
}

func checkoutFiles(ctx context.Context, w *Tree, commit string, paths []string) error {
	_, err := w.git(ctx, strings.NewReader(strings.Join(paths, "\x00")),
		"checkout", "--quiet", "--force", "--pathspec-from-file=-", "--pathspec-file-nul", commit)
	return err
}

// Withdraw reverts every change since a commit to files that protected covers, new ones included, and commits that.
func (w *Tree) Withdraw(ctx context.Context, commit, message string, protected func(path string) bool) (head string, err error) {
	err = w.Records.Do(ctx, func() error {
		head, err = withdraw(ctx, w, commit, message, protected)
		return err
	})
	return head, err
}

func withdraw(ctx context.Context, w *Tree, commit, message string, protected func(path string) bool) (head string, err error) {
	added, err := differing(ctx, w, commit, "A", protected)
	if err == nil && len(added) > 0 {
		_, err = w.git(ctx, strings.NewReader(strings.Join(added, "\x00")),
			"rm", "--quiet", "--force", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
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
	added := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return slices.Contains(there, p) })
	if err := w.Discard(added); err != nil || len(out) == 0 {
		return err
	}
	_, err = w.git(ctx, strings.NewReader(strings.Join(there, "\x00")),
		"restore", "--worktree", "--source="+commit, "--pathspec-from-file=-", "--pathspec-file-nul")
	return err
}
