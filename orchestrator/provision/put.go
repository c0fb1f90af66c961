package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"relay/attempts"
)

// Put copies and links the files into the slot in dir. What is tracked there stays as it is. why says which file cannot be put there;
// err is a fault of git or of the disk.
func (f *Files) Put(ctx context.Context, dir string) (why string, err error) {
	found, err := f.find(ctx)
	if err != nil {
		return "", err
	}
	to, err := os.OpenRoot(dir) // a link that an agent has committed leads nowhere outside
	if err != nil {
		return "", err
	}
	defer to.Close()
	for _, list := range []struct {
		key   string
		names []string
		put   func(to *os.Root, name string) error
	}{{"copy", found.copy, f.copyIn}, {"link", found.link, f.linkIn}} {
		for _, name := range list.names {
			err := list.put(to, name)
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			if err != nil {
				return fmt.Sprintf("%s, which relay.worktree.%s names, cannot be put into the worktree: %v", attempts.Clean(name, 200), list.key, err), nil
			}
		}
	}
	return "", nil
}

func (f *Files) linkIn(to *os.Root, name string) error {
	if _, err := to.Lstat(filepath.FromSlash(name)); err == nil {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(f.home.Root(), filepath.FromSlash(name))); err != nil {
		return unlessGone(err)
	}
	if err := to.MkdirAll(filepath.FromSlash(path.Dir(name)), 0o755); err != nil {
		return err
	}
	return to.Symlink(filepath.Join(f.home.Root(), filepath.FromSlash(name)), filepath.FromSlash(name))
}

func (f *Files) copyIn(to *os.Root, name string) error {
	from := f.home.Root()
	return filepath.WalkDir(filepath.Join(from, filepath.FromSlash(name)), func(full string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, full)
		if err = errors.Join(unlessGone(err), relErr); err != nil || d == nil {
			return err
		}
		if d.IsDir() {
			if f.isRelays(filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			return to.MkdirAll(rel, 0o755)
		}
		if f.found.tracked[filepath.ToSlash(rel)] {
			return nil
		}
		if _, err := to.Lstat(rel); err == nil {
			return nil
		}
		if err := to.MkdirAll(filepath.Dir(rel), 0o755); err != nil {
			return err
		}
		return copyFile(to, rel, full, d)
	})
}

// unlessGone returns err, but nil for a file of the user's that is not there any more: they go on working.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copyFile copies a file or a link to rel below a folder. Anything else is left out.
func copyFile(to *os.Root, rel, full string, d fs.DirEntry) error {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(full)
		if err != nil {
			return unlessGone(err)
		}
		return to.Symlink(dest, rel)
	case !d.Type().IsRegular():
		return nil
	}
	src, err := os.Open(full)
	if err != nil {
		return unlessGone(err)
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	dst, err := to.OpenFile(rel, os.O_CREATE|os.O_WRONLY|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
