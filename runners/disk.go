package runners

import "golang.org/x/sys/unix"

// FreeSpace returns the number of bytes an ordinary user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}

// FilledDisk is in the words for a process that was stopped, or whose work failed, since it filled the disk.
const FilledDisk = "filled the disk"

// FloorPart is the part of a run's floor below which a disk is full: whoever leaves more is let be.
const FloorPart = 8

// IsFull reports whether the disk of a folder has less than an eighth of a run's floor, in bytes; free is what it has.
func IsFull(folder string, floor int64) (free uint64, full bool) {
	free, err := FreeSpace(folder)
	return free, err == nil && free < uint64(max(floor, 0))/FloorPart
}
