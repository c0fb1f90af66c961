package orchestrator

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/reanchor"
)

// halfDone are the files and folders in which git remembers an operation that has not come to its end.
var halfDone = []struct{ path, operation string }{
	{"rebase-merge", "rebase"}, {"rebase-apply", "rebase"}, {"MERGE_HEAD", "merge"}, {"CHERRY_PICK_HEAD", "cherry-pick"},
	{"REVERT_HEAD", "revert"}, {"sequencer", "cherry-pick"}, {"BISECT_LOG", "bisect"},
}

// halfway names the operation that is half done in the checkout, or "".
func (w *worktree) halfway() string {
	for _, h := range halfDone {
		if _, err := os.Lstat(filepath.Join(w.repo.GitDir(), h.path)); err == nil {
			return h.operation
		}
	}
	return ""
}

// unmerged returns the first path that a merge left in conflict, or "". It is not always halfway: git stash pop
// leaves conflicts too.
func (w *worktree) unmerged(ctx context.Context) (string, error) {
	out, err := w.git(ctx, nil, "ls-files", "--unmerged", "-z")
	entry, _, _ := strings.Cut(string(out), "\x00")
	_, path, _ := strings.Cut(entry, "\t")
	return path, err
}

// forget ends what is half done without looking at it: aborting an operation could fail, and moves branches about.
func (w *worktree) forget() error {
	for _, h := range halfDone {
		if err := os.RemoveAll(filepath.Join(w.repo.GitDir(), h.path)); err != nil {
			return err
		}
	}
	return nil
}

// unblock removes pipes and the like from where git looks for files of its own: it would wait for ever to read one.
func unblock(repo *reanchor.Git) error {
	own, shared := repo.GitDir(), repo.CommonDir()
	var suspects []string
	for _, dir := range []string{own, shared, filepath.Join(shared, "info"), filepath.Join(shared, "objects", "info")} {
		entries, _ := os.ReadDir(dir) // what is not there blocks nobody
		for _, e := range entries {
			suspects = append(suspects, filepath.Join(dir, e.Name()))
		}
	}
	for _, name := range []string{".git", ".gitignore", ".gitattributes", ".gitmodules"} {
		suspects = append(suspects, filepath.Join(repo.Root(), name))
	}
	_ = filepath.WalkDir(filepath.Join(shared, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			suspects = append(suspects, path)
		}
		return nil
	})
	for _, path := range suspects {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeDevice) == 0 {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// locked reports whether the index is locked.
func (w *worktree) locked() bool {
	_, err := os.Lstat(filepath.Join(w.repo.GitDir(), "index.lock"))
	return err == nil
}

// unlock removes the locks that a killed git of the attempt has left, or an agent has put there, as far as they are in
// relay's way. Call it only when the attempt's processes are gone.
func (w *worktree) unlock(ctx context.Context) error {
	if err := w.unlockOwn(); err != nil {
		return err
	}
	left, err := w.sharedLocks()
	if err != nil || len(left) == 0 {
		return err
	}
	// A neighbour's relay may be changing refs this moment: what is there still when it is our turn was left behind.
	release, err := lockRepository(ctx, w.repo)
	if err != nil {
		return err
	}
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return errors.Join(err, release())
}

// unlockOwn removes the locks that are this checkout's alone.
func (w *worktree) unlockOwn() error {
	for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock", "config.worktree.lock"} {
		if err := os.RemoveAll(filepath.Join(w.repo.GitDir(), name)); err != nil {
			return err
		}
	}
	return nil
}

// sharedLocks lists the locks of git that are there in what all worktrees of the repository share.
func (w *worktree) sharedLocks() ([]string, error) {
	shared := w.repo.CommonDir()
	var found []string
	for _, name := range []string{"config.lock", "packed-refs.lock", w.branch + ".lock"} {
		path := filepath.Join(shared, filepath.FromSlash(name))
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	err := filepath.WalkDir(filepath.Join(shared, "refs", "relay"), func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".lock") {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return found, err
}
