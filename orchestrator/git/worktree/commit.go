package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"relay/orchestrator/git/gitcmd"
)

// CommitLeftovers commits what an attempt left uncommitted, and returns the head that has it: every change of a tracked
// file, and the untracked files that takes reports. A nil takes means all of them: the tree is exactly that head then.
func (w *Tree) CommitLeftovers(ctx context.Context, message string, takes func(path string) bool) (head string, err error) {
	err = w.Records.Do(ctx, func() error {
		head, err = apart{w}.commitLeftovers(ctx, message, takes)
		return err
	})
	return head, err
}

func (w apart) commitLeftovers(ctx context.Context, message string, takes func(path string) bool) (head string, err error) {
	if err := w.User.Unhide(ctx, w.Runner()); err != nil {
		return "", err
	}
	w.stage = staging{run: w.Runner()}
	if err := w.stage.addChanged(ctx); err != nil {
		return "", err
	}
	if err := (index{w.Tree}).addFresh(ctx, takes); err != nil {
		return "", err
	}
	if err := errors.Join(w.stage.stageRefused(ctx), w.User.Unstage(ctx, w.Runner())); err != nil {
		return "", err
	}
	if none, err := (index{w.Tree}).nothingStaged(ctx); err != nil || none {
		return index{w.Tree}.headUnless(ctx, err)
	}
	if len(w.stage.refused) > 0 {
		if err := (index{w.Tree}).commitIndex(ctx, message); err != nil {
			return "", err
		}
		return w.Head(ctx)
	}
	// Not by stdin: what it reads of a relay that is killed is an empty message.
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, gitcmd.Identity(ctx, w.Repo)...)
	args = append(args, "commit", "--quiet", "--no-verify", "--allow-empty-message", "--message="+message)
	if _, err := w.git(ctx, nil, args...); err != nil {
		return "", err
	}
	return w.Head(ctx)
}

// addFresh stages the new files that takes reports, or all. What git does not take (a file that cannot be read, a name
// that it refuses) is left where it is, and so is a repository: of that a commit would have the name only.
func (x index) addFresh(ctx context.Context, takes func(path string) bool) error {
	list := func() ([]string, error) {
		fresh, err := x.tree.untracked(ctx)
		if takes != nil {
			fresh = slices.DeleteFunc(fresh, func(p string) bool { return !strings.HasSuffix(p, "/") && !takes(p) })
		}
		return fresh, err
	}
	fresh, err := list()
	if err != nil {
		return err
	}
	inner := func(p string) bool { return strings.HasSuffix(p, "/") }
	for _, p := range fresh {
		if inner(p) {
			x.tree.Leave(p)
		}
	}
	if fresh = slices.DeleteFunc(fresh, inner); len(fresh) == 0 {
		return nil
	}
	refused := x.tree.stage.add(ctx, fresh)
	if refused == nil {
		return nil
	}
	still, err := x.tree.stage.addAllBut(ctx, refused, list,
		func(paths []string) error { return x.tree.stage.add(ctx, paths, "--ignore-errors") })
	if err == nil {
		x.tree.Leave(still...)
	}
	return err
}

// commitIndex commits the index as git commit does, but looks at no file: it would have to pass them through the filters
// that refuse them.
func (x index) commitIndex(ctx context.Context, message string) error {
	tree, err := x.tree.git(ctx, nil, "write-tree")
	if err != nil {
		return err
	}
	head, err := x.tree.Head(ctx)
	if err != nil {
		return err
	}
	_, err = commitTree(ctx, x.tree, strings.TrimSpace(string(tree)), head, message)
	return err
}

// commitTree commits a tree onto a parent and moves HEAD there.
func commitTree(ctx context.Context, w *Tree, tree, parent, message string) (commit string, err error) {
	args := append([]string{"-c", "i18n.commitEncoding=UTF-8"}, gitcmd.Identity(ctx, w.Repo)...)
	made, err := w.git(ctx, nil, append(args, "commit-tree", "-p", parent, "-m", message, tree)...)
	if err != nil {
		return "", err
	}
	commit = strings.TrimSpace(string(made))
	_, err = w.git(ctx, nil, "update-ref", "-m", gitcmd.KeptMessage, "HEAD", commit)
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

// files returns those of paths at which a file stands: it is in no commit.
func (w *Tree) files(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool {
		info, err := os.Lstat(filepath.Join(w.Repo.Root(), filepath.FromSlash(p)))
		return errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular()
	})
}
