package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"relay/reanchor"
)

// vault keeps a second copy of the repository's .git while agents work in the user's own checkout: one that runs
// rm -rf .git must not cost the user their history. Objects never change once written, so they are hard links; all
// else is copied, because git and agents write it in place.
type vault struct {
	mu     sync.Mutex
	gitDir string // .git of the checkout: a folder, or the file of a linked worktree
	store  string // below relay's own folder, on the same file system
}

// save brings the copy up to date.
func (v *vault) save() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	info, err := os.Lstat(v.gitDir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return errors.Join(os.MkdirAll(filepath.Dir(v.store), 0o700), copyFile(v.gitDir, v.store+".file"))
	}
	// All but the objects is copied afresh: a ref file that git has packed away since must not come back.
	old, err := os.ReadDir(v.store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range old {
		if entry.Name() == "objects" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(v.store, entry.Name())); err != nil {
			return err
		}
	}
	if err := mirror(v.gitDir, v.store); err != nil {
		return fmt.Errorf("copy of .git: %w", err)
	}
	return nil
}

// mend puts .git back when git can no longer read HEAD, and says whether it had to. What was left of the damaged one
// is moved aside, not deleted.
func (v *vault) mend(ctx context.Context, repo *reanchor.Git) (bool, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, err := os.Lstat(v.gitDir); err == nil {
		if head, err := repo.Head(ctx); err == nil && head != "" {
			return false, nil
		}
	}
	if _, err := os.Lstat(v.gitDir); err == nil {
		if err := os.Rename(v.gitDir, v.store+".damaged"); err != nil {
			return false, err
		}
	}
	if _, err := os.Stat(v.store + ".file"); err == nil {
		return true, copyFile(v.store+".file", v.gitDir)
	}
	if err := mirror(v.store, v.gitDir); err != nil {
		return false, fmt.Errorf("the repository's .git is gone and its copy cannot be put back: %w", err)
	}
	return true, nil
}

// gone reports whether .git is no longer there at all.
func (v *vault) gone() bool {
	_, err := os.Lstat(v.gitDir)
	return errors.Is(err, fs.ErrNotExist)
}

// close removes the copy at the end of a run that left the repository whole.
func (v *vault) close() error {
	return errors.Join(os.RemoveAll(v.store), os.RemoveAll(v.store+".file"))
}

// mirror copies folder from to folder to; files below objects/ are linked where the file system can.
func mirror(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			dest, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(dest, target)
		case !d.Type().IsRegular():
			return nil // a socket of git's fsmonitor, for one
		case inObjects(rel):
			return linkFile(path, target)
		}
		return copyFile(path, target)
	})
}

func inObjects(rel string) bool {
	top := rel
	for dir := filepath.Dir(top); dir != "."; dir = filepath.Dir(dir) {
		top = dir
	}
	return top == "objects"
}

// linkFile links a file whose bytes never change; an existing target is already the same.
func linkFile(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
