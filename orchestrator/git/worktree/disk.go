package worktree

import "golang.org/x/sys/unix"

// FreeSpace returns the number of bytes an ordinary user can still write to the disk of a folder.
func FreeSpace(folder string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
