package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// readFile reads a regular file of at most limit bytes. A link to one is followed. Anything else is an irregularError, at once:
// a pipe is not waited for.
func readFile(path string, limit int64) ([]byte, error) {
	if info, err := os.Stat(path); err == nil { // first: a socket cannot even be opened
		if err := regular(path, info); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // somebody may have put a pipe there meanwhile
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if size := max(info.Size(), int64(len(content))); size > limit {
		return nil, fmt.Errorf("%s has %.1f MiB, more than the %d relay reads", path, float64(size)/(1<<20), limit>>20)
	}
	return content, err
}

// irregularError means that something else is where a file belongs.
type irregularError struct{ path, kind string }

func (e *irregularError) Error() string { return e.path + " is " + e.kind + ", not a file" }

func regular(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return &irregularError{path, "a folder"}
	case mode&fs.ModeNamedPipe != 0:
		return &irregularError{path, "a named pipe"}
	}
	return &irregularError{path, "a socket or a device"}
}
