package project

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ReadFile reads a regular file of at most limit bytes. A link to one is followed. Anything else is an irregularError, at once:
// a pipe is not waited for.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
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
	content := bytes.NewBuffer(make([]byte, 0, min(info.Size(), limit)+bytes.MinRead))
	_, err = content.ReadFrom(io.LimitReader(f, limit+1))
	if size := max(info.Size(), int64(content.Len())); size > limit {
		return nil, fmt.Errorf("%s has %.1f MiB, more than the %d relay reads", path, float64(size)/(1<<20), limit>>20)
	}
	return content.Bytes(), err
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

// ReplaceFile writes a file atomically: readers see the old content or the new one, also after a crash.
func ReplaceFile(path string, data []byte) error { return Replace(path, 0o644, data) }

// ReplacePrivate replaces a file with one that only the user can read.
func ReplacePrivate(path string, data []byte) error { return Replace(path, 0o600, data) }

// Replace is ReplaceFile with another mode.
func Replace(path string, mode fs.FileMode, data []byte) error {
	return ReplaceWith(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReplaceWith replaces a file with what write writes.
func ReplaceWith(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	err = errors.Join(write(f), f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, also := os.Stat(b)
	return err == nil && also == nil && os.SameFile(one, other)
}

// Exists reports whether there is anything at a path, also a link that leads nowhere.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
