package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/reanchor"
)

// vault keeps a second copy of the repository's .git while agents work in the user's own checkout: one that runs
// rm -rf .git must not cost the user their history. Objects never change once written, so they are hard links; all
// else is copied, because git and agents write it in place.
type vault struct {
	mu     sync.Mutex
	gitDir string // .git of the checkout: a folder, or the file of a linked worktree
	store  string // where the copy is; on the same file system it costs little
	aside  string // in relay's folder, where a damaged .git is moved; names after the first get a number
}

// save brings the copy up to date.
func (v *vault) save() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	info, err := os.Lstat(v.gitDir)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil // it is elsewhere, and what is said of a linked worktree holds: there is no copy
	case !info.IsDir():
		return errors.Join(os.RemoveAll(v.store), os.MkdirAll(filepath.Dir(v.store), 0o700), copyFile(v.gitDir, v.store+".file"))
	}
	// All but the objects is copied afresh: a ref file that git has packed away since must not come back.
	old, err := os.ReadDir(v.store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.RemoveAll(v.store + ".file"); err != nil {
		return err
	}
	for _, entry := range old {
		if entry.Name() == "objects" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(v.store, entry.Name())); err != nil {
			return err
		}
	}
	err = replicate(v.gitDir, v.store)
	if err != nil { // what stands there now may be of another kind than what was copied before
		err = errors.Join(os.RemoveAll(v.store), replicate(v.gitDir, v.store))
	}
	if err != nil {
		return fmt.Errorf("copy of .git: %w", err)
	}
	return nil
}

// mend puts back what git needs and can no longer read, and says in words what that was; "" when all is well.
func (v *vault) mend(ctx context.Context, repo *reanchor.Git) (string, error) {
	configured, err := v.mendConfig(ctx, repo)
	if err != nil {
		return "", err
	}
	sound := func() bool {
		_, gone := os.Lstat(v.gitDir)
		head, err := repo.Head(ctx)
		return gone == nil && err == nil && head != ""
	}
	if sound() {
		return configured, nil
	}
	return v.putBack(sound)
}

// mendConfig puts the repository's configuration back when it keeps git from working in this checkout: the user would
// find it so in the morning. Other changes of it may be somebody's work.
func (v *vault) mendConfig(ctx context.Context, repo *reanchor.Git) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if info, err := os.Lstat(v.gitDir); err != nil || !info.IsDir() {
		return "", nil // a linked worktree shares its configuration with others; there is no copy of it
	}
	if _, err := os.Stat(filepath.Join(v.store, headFile)); err != nil || !v.reconfigured() {
		return "", nil
	}
	if info, err := os.Lstat(filepath.Join(v.gitDir, configFiles[0])); err == nil && info.Mode().IsRegular() {
		found, err := reanchor.OpenGit(ctx, repo.Root())
		if err == nil && found.Root() == repo.Root() && found.GitDir() == repo.GitDir() || ctx.Err() != nil {
			return "", nil
		}
	}
	for _, name := range configFiles {
		to := filepath.Join(v.gitDir, name)
		if err := os.RemoveAll(to); err != nil {
			return "", err
		}
		if err := copyFile(filepath.Join(v.store, name), to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "the configuration of the repository in .git was damaged during the attempt; relay put it back", nil
}

// reconfigured reports whether the configuration is not the one of the copy.
func (v *vault) reconfigured() bool {
	return slices.ContainsFunc(configFiles, func(name string) bool {
		return !sameContent(filepath.Join(v.store, name), filepath.Join(v.gitDir, name))
	})
}

// configFiles are the files of .git that say how git reads it.
var configFiles = []string{"config", "config.worktree"}

// sameContent compares two files; two that are not there are the same. The second one is an agent's to write: it is
// read only when it is a plain file as long as the first.
func sameContent(ours, theirs string) bool {
	one, err := os.ReadFile(ours)
	if err != nil {
		_, err2 := os.Lstat(theirs)
		return errors.Is(err, fs.ErrNotExist) && errors.Is(err2, fs.ErrNotExist)
	}
	return sameAs(one, theirs)
}

// sameAs compares a file that an agent can write with what it should have in it.
func sameAs(content []byte, path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(content)) {
		return false
	}
	found, err := os.ReadFile(path)
	return err == nil && bytes.Equal(content, found)
}

// putBack replaces .git by its copy, and says so in words. What was left of the damaged one is moved aside, not deleted.
// Nothing is done when it is sound by then: side by side another attempt may have been quicker.
func (v *vault) putBack(sound func() bool) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if sound() {
		return "", nil
	}
	_, whole := os.Stat(filepath.Join(v.store, headFile))
	if _, err := os.Stat(v.store + ".file"); err != nil && whole != nil {
		return "", fmt.Errorf("the repository's .git is damaged or gone, and there is no copy of it: %w", whole)
	}
	why := "the repository's .git folder was damaged or removed during the attempt; relay put it back"
	if _, err := os.Lstat(v.gitDir); err == nil {
		aside := v.aside
		for n := 2; ; n++ {
			if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
				break
			}
			aside = fmt.Sprintf("%s-%d", v.aside, n)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(aside), 0o755), os.Rename(v.gitDir, aside)); err != nil {
			return "", err
		}
		why += " and moved what was left of it to " + filepath.Base(aside) + " in its own folder"
	}
	if _, err := os.Stat(v.store + ".file"); err == nil {
		return why, copyFile(v.store+".file", v.gitDir)
	}
	// Made beside it and then renamed: half a .git, after a crash, would be taken for no repository at all.
	half := v.aside + ".new"
	err := errors.Join(os.RemoveAll(half), os.MkdirAll(filepath.Dir(half), 0o755))
	if err == nil {
		err = errors.Join(replicate(v.store, half), os.Rename(half, v.gitDir))
	}
	if err != nil {
		return "", fmt.Errorf("the repository's .git is gone and its copy cannot be put back: %w", err)
	}
	return why, nil
}

// gone reports whether .git is no longer there at all.
func (v *vault) gone() bool {
	_, err := os.Lstat(v.gitDir)
	return errors.Is(err, fs.ErrNotExist)
}

// close removes the copy at the end of a run that left the repository whole.
func (v *vault) close() error {
	return errors.Join(os.RemoveAll(v.store), os.RemoveAll(v.store+".file"))
}

// replicate copies a .git. HEAD comes last: a copy that has none was cut short, and is not put back.
func replicate(from, to string) error {
	err := mirror(from, to)
	if err == nil {
		err = copyFile(filepath.Join(from, headFile), filepath.Join(to, headFile))
	}
	return err
}

const headFile = "HEAD"

// mirror copies folder from to folder to, but for HEAD; objects are linked where the file system can. What vanishes meanwhile, and
// git's lock files, are left out: an editor's git may be at work beside us.
func mirror(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(from, path)
		if err = errors.Join(err, relErr); err == nil {
			err = mirrorOne(path, rel, filepath.Join(to, rel), d)
		}
		if _, gone := os.Lstat(path); rel != "." && errors.Is(gone, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func mirrorOne(path, rel, target string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		return os.MkdirAll(target, 0o755)
	case d.Type()&fs.ModeSymlink != 0:
		dest, err := os.Readlink(path)
		if err != nil {
			return err
		}
		return os.Symlink(dest, target)
	case !d.Type().IsRegular() || strings.HasSuffix(rel, ".lock"), rel == headFile:
		return nil // a socket of git's fsmonitor, for one
	case inObjects(rel):
		return linkFile(path, target)
	}
	return copyFile(path, target)
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
	return errors.Join(copyFile(from, part), os.Rename(part, to))
}

func copyFile(from, to string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(dst, src)
	return errors.Join(err, dst.Close())
}
