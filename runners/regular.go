package runners

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
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
var ErrNotRegular = errors.New("is not a regular file")

// OpenRegular opens a regular file for reading that an agent may have had in its hands, through no symbolic link at its
// end. It refuses a pipe, and does not wait.
func OpenRegular(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("%s %w", path, ErrNotRegular)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !(info.Mode().IsRegular() && os.SameFile(before, info)) {
		err = fmt.Errorf("%s changed while it was opened", path)
	}
	if err != nil {
		_ = f.Close() // nothing was read
		return nil, err
	}
	return f, nil
}
