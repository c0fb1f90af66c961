package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
)

// Limits of the wait for another relay that writes, or has git at work on the file.
const (
	waitTries = 6000
	waitPause = 10 * time.Millisecond
)

// WaitLock waits up to a minute until no other relay holds a file, and holds it until unlock is called. Other programs do not ask for it.
// A file that is not there, or is removed meanwhile, is [io/fs.ErrNotExist].
func WaitLock(fsys FS, name string) (unlock func(), err error) {
	for range waitTries {
		f, err := Regular(fsys, name, os.O_RDWR)
		if err != nil {
			return nil, err
		}
		ok, err := f.TryLock(true)
		if ok && err == nil {
			ok, err = isAt(fsys, name, f)
		}
		if ok {
			return func() { _ = letGo(f) }, nil
		}
		_ = letGo(f)
		if err != nil {
			return nil, err
		}
		time.Sleep(waitPause)
	}
	return nil, fmt.Errorf("%s is locked by another relay", name)
}

// WaitNewLock is WaitLock for a file that it makes if it is missing; the name is durable then.
func WaitNewLock(fsys FS, name string) (unlock func(), err error) {
	for range waitTries {
		f, err := fsys.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, ownPerm)
		if err == nil {
			err = errors.Join(f.Close(), fsys.SyncDir(path.Dir(name)))
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if unlock, err = WaitLock(fsys, name); !errors.Is(err, fs.ErrNotExist) { // its holder has removed it this moment
			return unlock, err
		}
	}
	return nil, fmt.Errorf("%s is removed again and again", name)
}

// isAt reports whether a file is the one of that name: it may have been replaced while it was waited for.
func isAt(fsys FS, name string, f File) (bool, error) {
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := fsys.Lstat(name)
	if err != nil {
		return false, err
	}
	mine, now := StampOf(opened), StampOf(there)
	return mine.Dev == now.Dev && mine.Ino == now.Ino, nil
}
