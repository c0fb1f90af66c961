package durable

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ReserveSize is what is kept free for the last words of a full disk.
const ReserveSize = 64 << 10

// Reserve makes a file of ReserveSize bytes, written so that the space is really taken. It does nothing when the file
// is there already. It is not synced: after a power cut the next run makes it again.
func Reserve(fsys FS, name string) error {
	info, err := fsys.Lstat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() == ReserveSize {
		return nil
	}
	if err == nil {
		err = fsys.Remove(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := fsys.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, ownPerm)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, ReserveSize))
	if err = errors.Join(err, f.Close()); err != nil {
		_ = fsys.Remove(name)
	}
	return err
}

// Full reports whether an error says that the disk, or the user's share of it, is full.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
