package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"relay/orchestrator/git/gitcmd"
)

// update brings a copy of .git up to date: what is as it was stays, for a repository can have more refs, each with a log,
// than anything else in it. Until it is whole the copy has no HEAD; when it cannot be, it has its own again, and all its
// objects.
func update(from, to string) error {
	head := filepath.Join(to, gitcmd.HeadFile)
	was, reading := os.ReadFile(head)
	if err := os.RemoveAll(head); err != nil {
		return err
	}
	err := removeGone(from, to)
	if err == nil {
		err = mirror(from, to, copyChanged)
	}
	if err == nil {
		err = gitcmd.CopyFile(filepath.Join(from, gitcmd.HeadFile), head)
	}
	if err != nil && reading == nil {
		err = errors.Join(err, os.RemoveAll(head), os.WriteFile(head, was, 0o644))
	}
	return err
}

// removeGone removes from a copy what .git does not have any more, or as something else: a ref file that git has packed
// away since must not come back. Objects stay.
func removeGone(from, to string) error {
	err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(to, path)
		if err = errors.Join(err, relErr); err != nil || rel == "." {
			return err
		}
		if rel == "objects" {
			return fs.SkipDir
		}
		original := filepath.Join(from, rel)
		info, err := os.Lstat(original)
		switch {
		case err == nil && info.Mode().Type() == d.Type() && info.Mode()&fs.ModeSymlink == 0:
			return nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		}
		err = os.RemoveAll(path)
		if err == nil && d.IsDir() {
			err = fs.SkipDir
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // there is no copy yet
	}
	return err
}

// clockTick is how old a change must be for the file to bear the time of it alone: file systems count in ticks.
const clockTick = 2 * time.Second

// copyChanged copies a file unless the target has its length and its time of change.
func copyChanged(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	if was, err := os.Lstat(to); err == nil && was.Mode() == info.Mode() && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) {
		return nil
	}
	if err := gitcmd.CopyFile(from, to); err != nil {
		return err
	}
	at := info.ModTime()
	if time.Since(at) < clockTick {
		at = time.Unix(0, 0) // that of no file: it is copied again the next time
	}
	return os.Chtimes(to, at, at)
}
