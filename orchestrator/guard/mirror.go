package guard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mirror copies a .git to another folder with a function for each file. It leaves out git's lock files and files that somebody removes
// meanwhile: an editor's git may be at work beside us. It leaves out the samples of hooks too, which nothing uses: they are half the files
// of a small repository.
func mirror(from, to string, copy func(path, rel, target string) error) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, path)
		if err = errors.Join(err, relErr); err == nil {
			err = mirrorOne(path, rel, filepath.Join(to, rel), d, copy)
		}
		if err == nil {
			return nil
		}
		if _, gone := os.Lstat(path); rel != "." && errors.Is(gone, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func mirrorOne(path, rel, target string, d fs.DirEntry, copy func(path, rel, target string) error) error {
	switch {
	case rel == ".":
		return os.MkdirAll(target, 0o755)
	case d.IsDir():
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Mkdir(target, info.Mode().Perm()|0o700)
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(dest, target)
	case !d.Type().IsRegular(), strings.HasSuffix(rel, ".lock"),
		strings.HasSuffix(rel, ".sample") && filepath.Base(filepath.Dir(rel)) == "hooks":
		return nil // a socket of git's fsmonitor, for one
	}
	return copy(path, rel, target)
}

// inObjects reports whether a file below .git never changes once it is there: an object or a pack, of this repository,
// of a submodule, or of large-file storage. git writes other files of these folders, such as info/alternates, in place.
func inObjects(rel string) bool {
	parts := strings.Split(filepath.ToSlash(rel), "/")
	for i, part := range parts[:len(parts)-1] {
		if part != "objects" {
			continue
		}
		switch next := parts[i+1]; {
		case len(next) == 2 && i+2 < len(parts), i > 0 && parts[i-1] == "annex":
			return true
		case next == "pack" && strings.HasPrefix(parts[len(parts)-1], "pack-"):
			return true
		}
	}
	return false
}
