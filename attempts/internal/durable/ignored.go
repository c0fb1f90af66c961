package durable

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// togetherTries bounds how often something is tried that another process is doing at the same time.
const togetherTries = 100

// MkdirIgnored makes a folder with a .gitignore that keeps all of it from git, unless there is something of that name: a folder without one
// is the user's. Several processes may do so at once.
func MkdirIgnored(fsys FS, folder string) error {
	if _, err := fsys.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := fsys.Mkdir(folder, topPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := fsys.OpenFile(path.Join(folder, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownPerm)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.Write([]byte("*\n"))
	return errors.Join(err, f.Sync(), f.Close(), fsys.SyncDir(folder), fsys.SyncDir(path.Dir(folder)))
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
