package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"relay/reanchor/git"
)

// Backup keeps a second copy of the repository's .git while agents work in the user's own checkout: one that runs
// rm -rf .git must not cost the user their history. Objects never change once written, so they are hard links; all
// else is copied, because git and agents write it in place.
type Backup struct {
	mu     sync.Mutex
	GitDir string // .git of the checkout: a folder, or the file of a linked worktree
	Store  string // where the copy is, no other run's; on the same file system it costs little
	Aside  string // in relay's folder, where a damaged .git is moved; names after the first get a number

	mode fs.FileMode // of .git; 0: it was not copied yet
}

// Save makes another copy, which takes the place of the one before. It keeps that one while .git is damaged: whoever looks at it next puts
// it back.
func (b *Backup) Save() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Lstat(b.GitDir)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil // it is elsewhere, as with a linked worktree: relay makes a copy of the file only
	case !info.IsDir():
		return errors.Join(os.RemoveAll(b.Store), os.MkdirAll(filepath.Dir(b.Store), 0o700), git.CopyFile(b.GitDir, b.Store+".file"))
	case !b.intact():
		return nil
	}
	b.mode = info.Mode().Perm()
	half := b.Store + ".new"
	err = errors.Join(os.RemoveAll(half), os.RemoveAll(b.Store+".file"), os.MkdirAll(half, 0o700))
	if err == nil {
		err = mirror(b.GitDir, half, b.take)
	}
	if !b.intact() { // it is being removed
		return os.RemoveAll(half)
	}
	if err != nil {
		return fmt.Errorf("copy of .git: %w", errors.Join(err, os.RemoveAll(half)))
	}
	return errors.Join(os.RemoveAll(b.Store), os.Rename(half, b.Store))
}

// take copies a file of .git or of its copy. An object is linked where the file system can, or from the copy that there is.
func (b *Backup) take(path, rel, target string) error {
	if inObjects(rel) && (os.Link(path, target) == nil || os.Link(filepath.Join(b.Store, rel), target) == nil) {
		return nil
	}
	return git.CopyFile(path, target)
}

// intact reports whether .git has what no repository is without, or was never copied.
func (b *Backup) intact() bool {
	if _, err := os.Lstat(b.Store); err != nil {
		return true
	}
	for _, name := range []string{git.HeadFile, "objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(b.GitDir, name)); err != nil || info.IsDir() == (name == git.HeadFile) {
			return false
		}
	}
	return true
}

// Mend puts back a .git that git can no longer read, and says in words what that was; "" when all is well.
func (b *Backup) Mend(ctx context.Context, repo *git.Repo) (string, error) {
	sound := func() bool { return b.readable(ctx, repo) }
	if sound() {
		return "", nil
	}
	return b.Restore(ctx, sound)
}

// Gone reports whether .git is no longer there, or only what somebody has written into its place since: relay's own
// lock, or that of a neighbour.
func (b *Backup) Gone() bool {
	info, err := os.Lstat(b.GitDir)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(b.GitDir, git.HeadFile))
	}
	return errors.Is(err, fs.ErrNotExist)
}

// putBackLock is beside the copies of all runs in this checkout.
const putBackLock = "put-back.lock"

// Close removes the copy at the end of a run that left the repository whole.
func (b *Backup) Close() error {
	err := errors.Join(os.RemoveAll(b.Store), os.RemoveAll(b.Store+".file"))
	_ = os.Remove(filepath.Dir(b.Store)) // unless another run has its copy there
	return err
}
