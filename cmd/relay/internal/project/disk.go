package project

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

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
