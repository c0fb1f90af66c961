package runners

import (
	"fmt"
	"io"
	"os"

	"relay/runners/process"
)

// ReadResultFile reads a file an agent wrote as its result or answer: a regular file of at most 1 MiB, through no
// symbolic link at its end. The error wraps fs.ErrNotExist when there is none.
func ReadResultFile(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > MaxResult {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), MaxResult)
	}
	return io.ReadAll(io.LimitReader(f, MaxResult+1))
}

// ErrNotRegular is wrapped by the errors of OpenRegular when the path is not a regular file.
var ErrNotRegular = process.ErrNotRegular

// OpenRegular opens a file for reading as [process.OpenRegular] does.
func OpenRegular(path string) (*os.File, error) { return process.OpenRegular(path, os.O_RDONLY) }
