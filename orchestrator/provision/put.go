package provision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"relay/epic/plaintext"
	"relay/orchestrator/relayfiles"
)

// Put copies the files into the slot in dir. Tracked files there stay. why says which file cannot be put there; err is a fault of git or of
// the disk.
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
		copy  func(t target, full string, d fs.DirEntry) error
	}{{"copy", found.copy, copyFile}, {"share", found.share, f.shareFile}} {
		for _, name := range list.names {
			err := f.copyIn(ctx, to, name, list.copy)
			if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EIO) || ctx.Err() != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			if err != nil {
				return fmt.Sprintf("%s, which relay.worktree.%s names, cannot be put into the worktree: %v", plaintext.Capped(name, 200), list.key, err), nil
			}
		}
	}
	return "", nil
}

func (f *Files) copyIn(ctx context.Context, to *os.Root, name string, file func(t target, full string, d fs.DirEntry) error) error {
	from := f.home.Root()
	t := target{slot: to}
	defer t.close()
	return filepath.WalkDir(filepath.Join(from, filepath.FromSlash(name)), func(full string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, full)
		if err = errors.Join(unlessGone(err), relErr, ctx.Err()); err != nil || d == nil {
			return err
		}
		if d.IsDir() && f.isRelays(filepath.ToSlash(rel)) {
			return filepath.SkipDir
		}
		if d.IsDir() {
			return to.MkdirAll(rel, 0o755)
		}
		if f.found.tracked[filepath.ToSlash(rel)] {
			return nil
		}
		if err := t.moveTo(rel); err != nil {
			return err
		}
		if err = file(t, full, d); errors.Is(err, fs.ErrExist) {
			return nil // the slot has one
		}
		return err
	})
}

// target is the place of the next file. The folder is open: to look it up from the top for each of thousands of files takes longer than to
// copy them.
type target struct {
	slot   *os.Root
	folder *os.Root // nil: not opened yet
	dir    string   // from the top of the slot
	base   string
}

func (t *target) moveTo(rel string) (err error) {
	dir := filepath.Dir(rel)
	if t.base = filepath.Base(rel); t.folder != nil && dir == t.dir {
		return nil
	}
	t.close()
	if err = t.slot.MkdirAll(dir, 0o755); err == nil {
		t.folder, err = t.slot.OpenRoot(dir)
	}
	t.dir = dir
	return err
}

func (t *target) close() {
	if t.folder != nil {
		_ = t.folder.Close()
	}
	t.folder = nil
}

// shareFile copies a file of dependencies. A link or a file that names the user's checkout names the slot instead.
func (f *Files) shareFile(t target, full string, d fs.DirEntry) error {
	name, from, slot := filepath.ToSlash(filepath.Join(t.dir, t.base)), f.home.Root(), t.slot.Name()
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(full)
		if err != nil {
			return unlessGone(err)
		}
		if relayfiles.IsIn(dest, from) {
			dest = slot + strings.TrimPrefix(dest, from)
		}
		return t.folder.Symlink(dest, t.base)
	case !pathsInside.MatchString(name):
		return copyFile(t, full, d)
	}
	info, err := d.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return errors.Join(unlessGone(err), copyFile(t, full, d))
	}
	content, err := os.ReadFile(full)
	if err != nil {
		return unlessGone(err)
	}
	if _, err := t.folder.Lstat(t.base); err == nil {
		return nil
	}
	return t.folder.WriteFile(t.base, moved(name, content, from, slot), info.Mode().Perm())
}

// unlessGone returns err, but nil for a file of the user's that is not there any more: they go on working.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// copyFile copies a file or a link. Anything else is left out.
func copyFile(t target, full string, d fs.DirEntry) error {
	switch {
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(full)
		if err != nil {
			return unlessGone(err)
		}
		return t.folder.Symlink(dest, t.base)
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
	dst, err := t.folder.OpenFile(t.base, os.O_CREATE|os.O_WRONLY|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	if clone(dst, src) != nil {
		_, err = io.Copy(dst, src)
	}
	err = errors.Join(err, dst.Close())
	_ = t.folder.Chtimes(t.base, info.ModTime(), info.ModTime()) // by which compiled files know what they were made of
	return err
}
