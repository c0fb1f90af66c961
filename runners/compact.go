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
	part := path + ".part"
	_ = os.Remove(part) // whatever it is, it is not written through
	if err := copyEnds(part, path, info.Size(), limit/2); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}

// copyEnds writes the first and the last half bytes of a file of the given size.
func copyEnds(to, from string, size, half int64) error {
	old, err := os.Open(from)
	if err != nil {
		return err
	}
	defer old.Close()
	cut, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(cut, io.MultiReader(
		io.NewSectionReader(old, 0, half),
		strings.NewReader(fmt.Sprintf("\n[relay: %d bytes dropped]\n", size-2*half)),
		io.NewSectionReader(old, size-half, half),
	))
	return errors.Join(err, cut.Close())
}
