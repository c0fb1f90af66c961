package provision

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// maxHeld bounds a file of which the bytes are kept.
const maxHeld = 1 << 20

// state is a file, or a link, at one time.
type state struct {
	info    fs.FileInfo // nil: it was not there
	dest    string      // of a link
	content []byte
	whole   bool // it can be put back
}

// stateOf reads a path. It keeps only the stat of a file that is too large, and of anything else than a file or a link.
func stateOf(path string) state {
	info, err := os.Lstat(path)
	if err != nil {
		return state{whole: errors.Is(err, fs.ErrNotExist)}
	}
	s := state{info: info}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		s.dest, err = os.Readlink(path)
		s.whole = err == nil
	case mode.IsRegular() && info.Size() <= maxHeld:
		s.content = []byte(git.Plain(path, maxHeld))
		s.whole = int64(len(s.content)) == info.Size()
	}
	return s
}

// same reports whether another state of the file holds the same; it compares files of unknown content by their stat.
func (s *state) same(now *state) bool {
	switch {
	case s.info == nil || now.info == nil:
		return s.info == now.info
	case s.info.Mode() != now.info.Mode():
		return false
	case !s.whole || !now.whole:
		return os.SameFile(s.info, now.info) && s.info.Size() == now.info.Size() && s.info.ModTime().Equal(now.info.ModTime())
	}
	return s.dest == now.dest && bytes.Equal(s.content, now.content)
}

// restore makes the file what it was.
func (s *state) restore(path string) error {
	if now, err := os.Lstat(path); err == nil && now.IsDir() {
		return errors.New("a folder is in its place")
	}
	if s.info == nil {
		return os.Remove(path)
	}
	half := path + ".relay"
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	_ = os.Remove(half) // left by a relay that was killed
	if s.info.Mode()&fs.ModeSymlink != 0 {
		return errors.Join(err, os.Symlink(s.dest, half), os.Rename(half, path))
	}
	return errors.Join(err, os.WriteFile(half, s.content, 0o600), os.Chmod(half, s.info.Mode().Perm()), os.Rename(half, path))
}
