package trees

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

// Halfway names the operation that is half done in the checkout, or "".
func (w *Tree) Halfway() string {
	for _, h := range halfDone {
		if _, err := os.Lstat(filepath.Join(w.Repo.GitDir(), h.path)); err == nil {
			return h.operation
		}
	}
	return ""
}

// Unmerged returns the first path that a merge left in conflict, or "". It is not always halfway: git stash pop
// leaves conflicts too.
func (w *Tree) Unmerged(ctx context.Context) (string, error) {
	out, err := w.git(ctx, nil, "ls-files", "--unmerged", "-z")
	entry, _, _ := strings.Cut(string(out), "\x00")
	_, path, _ := strings.Cut(entry, "\t")
	return path, err
}

// Forget ends what is half done without looking at it: aborting an operation could fail, and moves branches about.
func (w *Tree) Forget() error {
	for _, h := range halfDone {
		if err := os.RemoveAll(filepath.Join(w.Repo.GitDir(), h.path)); err != nil {
			return err
		}
	}
	return nil
}

// Unblock removes pipes and the like from where git looks for files of its own: it would wait for ever to read one.
func Unblock(repo *reanchor.Git) error {
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

// locked reports whether the index is locked, or the branch the run works on.
func (w *Tree) locked() bool {
	_, index := os.Lstat(filepath.Join(w.Repo.GitDir(), "index.lock"))
	_, branch := os.Lstat(lockOf(w.Repo, w.Branch))
	return index == nil || branch == nil
}

// Unlock removes the locks that a killed git of the attempt has left, or an agent has put there, as far as they are in
// relay's way. Call it only when the attempt's processes are gone. Of the locks that others take as well, a user at work
// in the repository for one, only those go that nobody who lives can hold.
func (w *Tree) Unlock(ctx context.Context) error {
	if err := w.unlockOwn(); err != nil {
		return err
	}
	if err := Unlatch(w.Repo, configFiles[0], w.Branch); err != nil {
		return err
	}
	left, err := w.relayLocks()
	if err != nil || len(left) == 0 {
		return err
	}
	// A neighbour's relay may be changing refs this moment: what is there still when it is our turn was left behind.
	release, err := LockRepository(ctx, w.Repo)
	if err != nil {
		return err
	}
	for _, path := range left {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return errors.Join(err, release())
}

// unlockOwn removes the locks that are this checkout's alone.
func (w *Tree) unlockOwn() error {
	for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock", "config.worktree.lock"} {
		if err := os.RemoveAll(filepath.Join(w.Repo.GitDir(), name)); err != nil {
			return err
		}
	}
	return nil
}

// relayLocks lists the locks of refs that only relay writes.
func (w *Tree) relayLocks() ([]string, error) {
	shared := w.Repo.CommonDir()
	var found []string
	if path := lockOf(w.Repo, w.Branch); strings.HasPrefix(w.Branch, "refs/heads/"+TaskBranches) {
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
