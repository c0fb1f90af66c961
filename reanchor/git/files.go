package git

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"relay/epic/each"
)

// SmallFile is more than any of these has.
const SmallFile = 1 << 20

// Contents reads files that an agent can write: one that is not there, not a file, or too large, is "".
func Contents(dir string, names []string) []string {
	return each.Of(names, func(name string) string { return Plain(filepath.Join(dir, filepath.FromSlash(name)), SmallFile) })
}

// Plain reads a regular file of at most most bytes; "" when it is anything else.
func Plain(path string, most int64) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return ""
	}
	text, _ := os.ReadFile(path) // gone meanwhile: as if it was not there
	return string(text)
}

// RemoveTree removes a folder with all that is in it, also what an agent has protected against that.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if err == nil || errors.Is(err, syscall.ENOTDIR) { // nothing is there: it would be in a file
		return nil
	}
	if _, opening := Sweep(path, 0); opening != nil {
		return errors.Join(err, opening)
	}
	return os.RemoveAll(path)
}

// Sweep gives every folder from path down the permissions mode, or with 0 those that its owner needs, and removes what
// is neither file, nor folder, nor link: git overlooks it. It returns the folders below path that have a .git in them.
func Sweep(path string, mode fs.FileMode) (repositories []string, err error) {
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil: // the walk asks twice about a folder: a second time when it could not read it
			return err
		case d.IsDir():
			err = setFolderMode(at, d, mode)
		case d.Type()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeCharDevice) != 0:
			err = os.Remove(at)
		}
		if d.Name() == ".git" && filepath.Dir(at) != path {
			repositories = append(repositories, filepath.Dir(at))
		}
		return err
	})
	return repositories, err
}

func setFolderMode(folder string, d fs.DirEntry, mode fs.FileMode) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	mode = cmp.Or(mode, info.Mode().Perm()|0o700)
	if info.Mode().Perm() == mode {
		return nil
	}
	return os.Chmod(folder, mode)
}

// RemoveIfThere removes a file. A missing file is not an error.
func RemoveIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// HeadFile is the file of a .git that says what is checked out.
const HeadFile = "HEAD"

// CopyFile copies a regular file with its permissions; what stands in the way is replaced.
func CopyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	const fresh = os.O_CREATE | os.O_WRONLY | os.O_EXCL
	dst, err := os.OpenFile(to, fresh, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		if err = os.Remove(to); err == nil {
			dst, err = os.OpenFile(to, fresh, info.Mode().Perm())
		}
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}

// ReplaceFile puts a file in place of another one, with the mode of that if there is one: readers see the old file or the new one.
func ReplaceFile(path string, mode fs.FileMode, content []byte) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	half := path + ".relay"
	return errors.Join(RemoveTree(half), os.WriteFile(half, content, mode), os.Rename(half, path))
}

// SameAs compares a file that an agent can write with what it should have in it.
func SameAs(content []byte, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false
	}
	found, err := os.ReadFile(path)
	return err == nil && bytes.Equal(content, found)
}
