package durable

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

const (
	nonblock = 0
	dirsSync = false // Windows has no way to sync a folder
)

func syncData(f *os.File) error { return f.Sync() }

// fillStamp leaves size and modification time to tell.
func fillStamp(*Stamp, fs.FileInfo) {}

// tryLock locks one byte far beyond the end, because a locked range cannot be read by others on Windows and the
// holder must stay readable.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	beyond := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, beyond)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION):
		return false, nil
	}
	return false, &fs.PathError{Op: "lock", Path: f.Name(), Err: err}
}

// unlock leaves it to Close: no other process has a copy.
func unlock(*os.File) error { return nil }
