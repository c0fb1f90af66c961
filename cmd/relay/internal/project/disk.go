package project

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// FreeSpace returns the number of bytes an ordinary user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// writable reports whether this user can make files in a folder.
func writable(folder string) bool { return unix.Access(folder, unix.W_OK|unix.X_OK) == nil }

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
