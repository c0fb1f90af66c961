package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"relay/epic/plaintext"
)

// ReadFile is [plaintext.ReadFile], and fails for a longer file.
func ReadFile(path string, limit int64) ([]byte, error) {
	content, err := plaintext.ReadFile(path, limit)
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%s has more than the %d MiB that relay reads", path, limit>>20)
	}
	return content, err
}

// ReplaceFile writes a file atomically: readers see the old content or the new one, also after a crash.
func ReplaceFile(path string, data []byte) error { return Replace(path, 0o644, data) }

// ReplacePrivate replaces a file with one that only the user can read.
func ReplacePrivate(path string, data []byte) error { return Replace(path, 0o600, data) }

// Replace is ReplaceFile with another mode.
func Replace(path string, mode fs.FileMode, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path)) // its names are to be durable, too
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, also := os.Stat(b)
	return err == nil && also == nil && os.SameFile(one, other)
}
