package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/reanchor"
)

// vault keeps a second copy of the repository's .git while agents work in the user's own checkout: one that runs
// rm -rf .git must not cost the user their history. Objects never change once written, so they are hard links; all
// else is copied, because git and agents write it in place.
type vault struct {
	mu     sync.Mutex
	gitDir string // .git of the checkout: a folder, or the file of a linked worktree
	store  string // where the copy is, no other run's; on the same file system it costs little
	aside  string // in relay's folder, where a damaged .git is moved; names after the first get a number

	skip func(dir string) bool // folders of .git that are made anew when they are needed; nil: none
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
	err = replicate(v.gitDir, v.store, v.skip)
	if err != nil { // what stands there now may be of another kind than what was copied before
		err = errors.Join(os.RemoveAll(v.store), replicate(v.gitDir, v.store, v.skip))
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
		return gone == nil && (err == nil && head != "" || unasked(err) != nil)
	}
	if sound() {
		return configured, nil
	}
	return v.putBack(ctx, sound)
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
		if finds(ctx, repo) {
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

// finds reports whether git finds a checkout where it was, as far as it can be asked.
func finds(ctx context.Context, repo *reanchor.Git) bool {
	found, err := reanchor.OpenGit(ctx, repo.Root())
	return err == nil && found.Root() == repo.Root() && found.GitDir() == repo.GitDir() || ctx.Err() != nil || unasked(err) != nil
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
// Nothing is done when it is sound by then: side by side another attempt, or another run, may have been quicker.
func (v *vault) putBack(ctx context.Context, sound func() bool) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	turn, err := attempts.HoldWithin(ctx, repositoryPatience, filepath.Join(filepath.Dir(v.store), putBackLock), attempts.Self("", time.Now()))
	if err == nil { // whatever is wrong with the lock, .git is to be put back
		defer func() { _ = turn.Release() }()
	}
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
	err = errors.Join(os.RemoveAll(half), os.MkdirAll(filepath.Dir(half), 0o755))
	if err == nil {
		err = errors.Join(replicate(v.store, half, nil), os.Rename(half, v.gitDir))
	}
	if err != nil {
		return "", fmt.Errorf("the repository's .git is gone and its copy cannot be put back: %w", err)
	}
	return why, nil
}

// alone reports whether no other run in this checkout has a copy beside this one. A lock in .git would not tell: it goes
// with .git.
func (v *vault) alone() bool {
	beside, _ := os.ReadDir(filepath.Dir(v.store))
	return !slices.ContainsFunc(beside, func(e fs.DirEntry) bool {
		return e.Name() != putBackLock && strings.TrimSuffix(e.Name(), ".file") != filepath.Base(v.store)
	})
}

// gone reports whether .git is no longer there, or only what somebody has written into its place since: relay's own
// lock, or that of a neighbour.
func (v *vault) gone() bool {
	info, err := os.Lstat(v.gitDir)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(v.gitDir, headFile))
	}
	return errors.Is(err, fs.ErrNotExist)
}

// putBackLock is beside the copies of all runs in this checkout.
const putBackLock = "put-back.lock"

// close removes the copy at the end of a run that left the repository whole.
func (v *vault) close() error {
	err := errors.Join(os.RemoveAll(v.store), os.RemoveAll(v.store+".file"))
	_ = os.Remove(filepath.Dir(v.store)) // unless another run has its copy there
	return err
}
