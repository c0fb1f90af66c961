package durable

import (
	"errors"
	"io/fs"
	"path"
)

// togetherTries bounds how often something is tried that another process is doing at the same time.
const togetherTries = 100

// MkdirIgnored makes a folder with a .gitignore that keeps all of it from git, unless there is something of that name. The folder appears
// with its .gitignore in it: one without is the user's. Several processes may do so at once.
func MkdirIgnored(fsys FS, folder string) error {
	if _, err := fsys.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	making := folder + TempSuffix
	ignore := path.Join(making, ".gitignore")
	var err error
	for range togetherTries {
		if err = makeIgnored(fsys, making, ignore, folder); err == nil {
			return fsys.SyncDir(path.Dir(folder))
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, lerr := fsys.Lstat(folder); lerr == nil && info.IsDir() {
			_ = fsys.Remove(ignore)
			_ = fsys.Remove(making)
			return nil
		}
	}
	return err
}

func makeIgnored(fsys FS, making, ignore, folder string) error {
	if err := fsys.Mkdir(making, topPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := Replace(fsys, ignore, nil, Text([]byte("*\n"))); err != nil {
		return err
	}
	return fsys.Rename(making, folder)
}

// ReplaceMissing puts a file under a name that has none. Several processes may do so at once, with the same content.
func ReplaceMissing(fsys FS, name string, c Content) error {
	var err error
	for range togetherTries {
		if _, lerr := fsys.Lstat(name); !errors.Is(lerr, fs.ErrNotExist) {
			return lerr
		}
		if err = Replace(fsys, name, nil, c); err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}
