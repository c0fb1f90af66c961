package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/reanchor/git"
)

// CommitLeftovers commits what an attempt left uncommitted, and returns the head that has it: every change of a tracked
// file, and the untracked files that takes reports. A nil takes means all of them: the tree is exactly that head then.
func (w *Tree) CommitLeftovers(ctx context.Context, message string, takes func(path string) bool) (head string, err error) {
	err = w.Records.Do(ctx, func() error {
		head, err = commitLeftovers(ctx, w, message, takes)
		return err
	})
	return head, err
}

func commitLeftovers(ctx context.Context, w *Tree, message string, takes func(path string) bool) (head string, err error) {
	if err := w.User.Unhide(ctx, w.Runner()); err != nil {
		return "", err
	}
	fresh, err := fresh(ctx, w, takes)
	if err != nil {
		return "", err
	}
	w.stage = staging{run: w.Runner(), refused: map[string]error{}}
	left, err := w.stage.all(ctx, fresh)
	if err != nil {
		return "", err
	}
	w.Leave(left...)
	if err := errors.Join(w.User.Unstage(ctx, w.Runner()), w.stage.unstageConverted(ctx)); err != nil {
		return "", err
	}
	head, err = w.Head(ctx)
	if _, same := w.git(ctx, nil, "diff", "--cached", "--quiet", "--ignore-submodules=none"); err != nil || same == nil {
		return head, err
	}
	if len(w.stage.refused) > 0 { // git commit would pass the files through the filters that refuse them
		tree, err := w.git(ctx, nil, "write-tree")
		if err != nil {
			return "", err
		}
		return commitTree(ctx, w, strings.TrimSpace(string(tree)), head, message)
	}
	// Not by stdin: what it reads of a relay that is killed is an empty message.
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, git.Identity(ctx, w.Repo)...)
	args = append(args, "commit", "--quiet", "--no-verify", "--allow-empty-message", "--message="+message)
	if _, err := w.git(ctx, nil, args...); err != nil {
		return "", err
	}
	return w.Head(ctx)
}

// fresh lists the new files that takes reports, or all. Repositories are left where they are: a commit would have only their names.
func fresh(ctx context.Context, w *Tree, takes func(path string) bool) ([]string, error) {
	all, err := untracked(ctx, w)
	return slices.DeleteFunc(all, func(p string) bool {
		inner := strings.HasSuffix(p, "/")
		if inner {
			w.Leave(p)
		}
		return inner || takes != nil && !takes(p)
	}), err
}

// commitTree commits a tree onto a parent and moves HEAD there.
func commitTree(ctx context.Context, w *Tree, tree, parent, message string) (commit string, err error) {
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, git.Identity(ctx, w.Repo)...)
	made, err := w.git(ctx, nil, append(args, "commit-tree", "-p", parent, "-m", message, tree)...)
	if err != nil {
		return "", err
	}
	commit = strings.TrimSpace(string(made))
	_, err = w.git(ctx, nil, "update-ref", "-m", git.KeptMessage, "HEAD", commit)
	return commit, err
}

// Squash replaces the commits from base to HEAD by one that has their files and the message of the last of them.
func Squash(ctx context.Context, w *Tree, base, head string) (commit string, err error) {
	message, err := w.git(ctx, nil, "log", "-1", "--format=%B", head, "--")
	if err != nil {
		return "", err
	}
	return commitTree(ctx, w, head+"^{tree}", base, strings.TrimSpace(string(message)))
}

// Refused returns, by path, git's error for files that their filters or encodings refuse. They are committed as they
// are.
func (w *Tree) Refused() map[string]error { return w.stage.refused }

// Untaken lists tracked paths at which an attempt has left what git does not take: a commit would have what was there
// before.
func (w *Tree) Untaken() []string { return w.stage.untaken }

// standing returns those of paths at which a file stands: it is in no commit.
func standing(w *Tree, paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(p)))
		return errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular()
	})
}
