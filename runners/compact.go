package runners

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// compact keeps head and tail of outputs that have outgrown their cap.
func (w *watch) compact() error {
	kept := w.limits.kept()
	err := compactFile(w.cmd.Stdout, kept)
	if w.cmd.Stderr != w.cmd.Stdout {
		err = errors.Join(err, compactFile(w.cmd.Stderr, kept))
	}
	return err
}

// compactFile replaces a file of more than limit bytes by its first and last halves of that, with a line between them
// that says how much is missing. Nobody writes to the file any more.
func compactFile(path string, limit int64) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() <= limit {
		return err
	}
	old, err := os.Open(path)
	if err != nil {
		return err
	}
	defer old.Close()
	part := path + ".part"
	cut, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	half := limit / 2
	dropped := info.Size() - 2*half
	_, err = io.Copy(cut, io.MultiReader(
		io.NewSectionReader(old, 0, half),
		strings.NewReader(fmt.Sprintf("\n[relay: %d bytes dropped]\n", dropped)),
		io.NewSectionReader(old, half+dropped, half),
	))
	if err = errors.Join(err, cut.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	old.Close() // Windows renames onto no open file
	return os.Rename(part, path)
}
