package adapter

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"relay/runners"
)

// LastBytes returns the end of a file, at most limit bytes of it and no half of a word; a missing file is empty, and so is
// what cannot be read as one.
func LastBytes(path string, limit int64) ([]byte, error) {
	if empty(path) {
		return nil, nil
	}
	f, err := runners.OpenRegular(path)
	// Whoever wrote it can have put anything there, and in the place of its folder.
	unread := []error{fs.ErrNotExist, fs.ErrPermission, runners.ErrNotRegular, syscall.ENOTDIR}
	if slices.ContainsFunc(unread, func(odd error) bool { return errors.Is(err, odd) }) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	from := max(0, info.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if from > 0 {
		data = data[runners.HalfWord(data):]
	}
	return data, err
}

// empty reports that a file is there and has nothing in it, as the output of many a command: it need not be opened.
func empty(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() == 0
}
