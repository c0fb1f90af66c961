//go:build unix

package runners

import (
	"os"
	"syscall"
)

// openNoFollow opens a file for reading, follows no link at its end and does not wait for a writer of a pipe.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
