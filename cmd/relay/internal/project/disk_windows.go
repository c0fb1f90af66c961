package project

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// FreeSpace returns the number of bytes the user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(path, &free, nil, nil)
	return free, err
}

// sameDisk reports whether two folders are on one volume.
func sameDisk(a, b string) bool {
	return strings.EqualFold(filepath.VolumeName(a), filepath.VolumeName(b))
}

// writable reports whether this user can make files in a folder.
func writable(folder string) bool {
	f, err := os.CreateTemp(folder, ".relay-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	return os.Remove(f.Name()) == nil
}

// syncFolder does nothing: Windows keeps names durable by itself, and cannot open a folder.
func syncFolder(string) error { return nil }
