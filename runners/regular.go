package runners

import (
	"fmt"
	"os"

	"relay/runners/process"
)

// ReadResultFile reads a file an agent wrote as its result or answer: a regular file of at most 1 MiB, through no
// symbolic link at its end. The error wraps fs.ErrNotExist when there is none.
func ReadResultFile(path string) ([]byte, error) {
	text, err := ReadRegular(path, MaxResult+1)
	if len(text) > MaxResult {
		return nil, fmt.Errorf("%s has more than %d bytes", path, MaxResult)
	}
	return text, err
}

// ErrNotRegular is wrapped by the errors of OpenRegular when the path is not a regular file.
var ErrNotRegular = process.ErrNotRegular

// OpenRegular opens a file for reading as [process.OpenRegular] does.
func OpenRegular(path string) (*os.File, error) { return process.OpenRegular(path, os.O_RDONLY) }

// ReadRegular reads the beginning of a file as [process.ReadRegular] does.
func ReadRegular(path string, limit int64) ([]byte, error) { return process.ReadRegular(path, limit) }
