package backup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay/orchestrator/git/gitcmd"
)

// copyAll copies a .git. HEAD comes last: a copy that has none was cut short, and is not put back.
func copyAll(from, to string) error {
	err := mirror(from, to, gitcmd.CopyFile)
	if err == nil {
		err = gitcmd.CopyFile(filepath.Join(from, gitcmd.HeadFile), filepath.Join(to, gitcmd.HeadFile))
	}
	return err
}

// mirror copies folder from to folder to, but for HEAD; objects are linked where the file system can. What vanishes
// meanwhile, and git's lock files, are left out: an editor's git may be at work beside us. So are the samples of hooks,
// which nothing uses: they are half the files of a small repository.
func mirror(from, to string, copy func(from, to string) error) error {
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

func mirrorOne(path, rel, target string, d fs.DirEntry, copy func(from, to string) error) error {
	switch {
	case d.IsDir():
		info, err := d.Info()
		if err == nil && rel == "." {
			err = os.MkdirAll(filepath.Dir(target), 0o755)
		}
		if err == nil {
			err = os.Mkdir(target, info.Mode().Perm()|0o700)
		}
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(dest, target)
	case !d.Type().IsRegular() || strings.HasSuffix(rel, ".lock"), sampleHook(rel), rel == gitcmd.HeadFile:
		return nil // a socket of git's fsmonitor, for one
	case inObjects(rel):
		return linkFile(path, target)
	}
	return copy(path, target)
}

func sampleHook(rel string) bool {
	return strings.HasSuffix(rel, ".sample") && filepath.Base(filepath.Dir(rel)) == "hooks"
}

// inObjects reports whether a file below .git never changes once it is there: an object or a pack, of this repository,
// of a submodule, or of large-file storage. What else is in these folders (info/alternates, for one) is written in place.
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

// linkFile links a file whose bytes never change; an existing target is already the same.
func linkFile(from, to string) error {
	if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	part := to + ".part" // half an object, after a crash, would be taken for a whole one
	return errors.Join(gitcmd.CopyFile(from, part), os.Rename(part, to))
}
