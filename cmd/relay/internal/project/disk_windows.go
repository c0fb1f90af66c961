package project

import "golang.org/x/sys/windows"

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

// syncFolder does nothing: Windows keeps names durable by itself, and cannot open a folder.
func syncFolder(string) error { return nil }
