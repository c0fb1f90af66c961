package worktree

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/reanchor/git"
)

// SetAside makes a commit that has files as they are now in the checkout, on top of HEAD, and moves no branch. The files
// stay where they are. The same files on the same HEAD are the same commit. It notes files that git does not take with [Tree.Leave].
func (w *Tree) SetAside(ctx context.Context, paths []string, message string) (commit string, err error) {
	index := filepath.Join(w.Repo.GitDir(), "relay-aside")
	defer func() { err = errors.Join(err, git.RemoveIfThere(index), git.RemoveIfThere(index+".lock")) }()
	list := strings.Join(paths, "\x00")
	repo := func(stdin io.ReadSeeker, args ...string) (string, error) {
		call := git.Writing(args...)
		call.Stdin, call.Env = stdin, append(call.Env, "GIT_INDEX_FILE="+index)
		out, err := w.Repo.Run(ctx, call)
		return strings.TrimSpace(string(out)), err
	}
	when, err := repo(nil, "log", "-1", "--format=%cI", "HEAD", "--")
	if err != nil {
		return "", err
	}
	if _, err := repo(nil, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	if _, err := repo(strings.NewReader(list), "add", "--sparse", "--ignore-errors",
		"--pathspec-from-file=-", "--pathspec-file-nul"); err != nil {
		if err := recordRefused(w, repo, paths, err); err != nil {
			return "", err
		}
	}
	tree, err := repo(nil, "write-tree")
	if err != nil {
		return "", err
	}
	at, _ := time.Parse(time.RFC3339, when) // the zero time will do
	call := git.Writing(append(git.Identity(ctx, w.Repo), "commit-tree", "-p", "HEAD", "-m", message, tree)...)
	call.Env = append(call.Env, "GIT_AUTHOR_DATE="+at.Format(time.RFC3339), "GIT_COMMITTER_DATE="+at.Format(time.RFC3339))
	out, err := w.Repo.Run(ctx, call)
	return strings.TrimSpace(string(out)), err
}

// recordRefused records the files that git has not taken into an index. Any other refusal is returned.
func recordRefused(w *Tree, repo func(io.ReadSeeker, ...string) (string, error), paths []string, refused error) error {
	if git.ExitCode(refused) != 1 {
		return refused
	}
	out, err := repo(nil, "ls-files", "--others", "--exclude-standard", "-z")
	if err != nil {
		return errors.Join(refused, err)
	}
	w.Leave(slices.DeleteFunc(strings.Split(out, "\x00"), func(p string) bool { return !slices.Contains(paths, p) })...)
	return nil
}

// Discard removes untracked files that are kept elsewhere, and the folders that are empty then.
func (w *Tree) Discard(paths []string) error {
	root, err := os.OpenRoot(w.Repo.Root())
	if err != nil {
		return err
	}
	for _, p := range paths {
		if !w.left[p] && removeIn(root, p) != nil {
			w.Leave(p)
		}
	}
	return root.Close()
}
