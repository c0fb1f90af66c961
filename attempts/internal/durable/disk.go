package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Disk is the real file system below one folder. Names cannot lead out of it, through links neither.
type Disk struct {
	path string
	root *os.Root
}

// OpenDisk opens an existing folder. A link to it is resolved once, here.
func OpenDisk(dir string) (*Disk, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return &Disk{path: path, root: root}, nil
}

// Path returns the folder's absolute path with all links resolved.
func (d *Disk) Path() string { return d.path }

// Close closes the folder.
func (d *Disk) Close() error { return d.root.Close() }

// Moved reports whether the folder was removed, renamed or replaced since it was opened.
func (d *Disk) Moved() bool {
	here, err := d.root.Stat(".")
	if err != nil {
		return true
	}
	there, err := os.Lstat(d.path)
	return err != nil || !os.SameFile(here, there)
}

// Recreate makes the folder again at its old path. It moves a link or a file that stands in its
// way aside.
func (d *Disk) Recreate() (FS, error) {
	info, err := os.Lstat(d.path)
	if err == nil && !info.IsDir() {
		if err := os.Rename(d.path, d.path+asideSuffix); err != nil {
			return nil, err
		}
	}
	if err := os.MkdirAll(d.path, topPerm); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, err
	}
	return &Disk{path: d.path, root: root}, nil
}

// OpenFile opens a file as os.OpenFile does, without blocking on a named pipe.
func (d *Disk) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	f, err := d.root.OpenFile(filepath.FromSlash(name), flag|unix.O_NONBLOCK, perm)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

// Lstat describes a name without following a link.
func (d *Disk) Lstat(name string) (fs.FileInfo, error) { return d.root.Lstat(filepath.FromSlash(name)) }

// ReadDir lists a folder in name order.
func (d *Disk) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(d.root.FS(), name) }

// Mkdir makes one folder.
func (d *Disk) Mkdir(name string, perm fs.FileMode) error {
	return d.root.Mkdir(filepath.FromSlash(name), perm)
}

// Rename replaces newname.
func (d *Disk) Rename(oldname, newname string) error {
	return d.root.Rename(filepath.FromSlash(oldname), filepath.FromSlash(newname))
}

// Remove removes a file or an empty folder.
func (d *Disk) Remove(name string) error { return d.root.Remove(filepath.FromSlash(name)) }

// SetModified sets when a file was last written, as its folder tells it.
func (d *Disk) SetModified(name string, at time.Time) error {
	return d.root.Chtimes(filepath.FromSlash(name), time.Time{}, at)
}

// SyncDir makes the names in a folder durable.
func (d *Disk) SyncDir(name string) error {
	f, err := d.root.Open(filepath.FromSlash(name))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

type diskFile struct{ *os.File }

func (f diskFile) Sync() error { return syncData(f.File) }

func (f diskFile) TryLock(exclusive bool) (bool, error) {
	how := unix.LOCK_SH | unix.LOCK_NB
	if exclusive {
		how = unix.LOCK_EX | unix.LOCK_NB
	}
	for {
		err := unix.Flock(int(f.Fd()), how)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}

func (f diskFile) Unlock() error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_UN); err != nil {
		return &fs.PathError{Op: "unlock", Path: f.Name(), Err: err}
	}
	return nil
}
