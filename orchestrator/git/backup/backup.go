// Package backup keeps a copy of a checkout's .git while agents work in the user's own checkout (isolation none), and puts
// .git back from it. Slots need none.
package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// Backup keeps a second copy of the repository's .git while agents work in the user's own checkout: one that runs
// rm -rf .git must not cost the user their history. Objects never change once written, so they are hard links; all
// else is copied, because git and agents write it in place.
type Backup struct {
	mu     sync.Mutex
	GitDir string // .git of the checkout: a folder, or the file of a linked worktree
	Store  string // where the copy is, no other run's; on the same file system it costs little
	Aside  string // in relay's folder, where a damaged .git is moved; names after the first get a number

	mode fs.FileMode // of .git; 0: it was not copied yet
}

// Save brings the copy up to date. A .git that is damaged is no reason to: whoever looks at it next puts it back.
func (b *Backup) Save() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	info, err := os.Lstat(b.GitDir)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return nil // it is elsewhere, and what is said of a linked worktree holds: there is no copy
	case !info.IsDir():
		return errors.Join(os.RemoveAll(b.Store), os.MkdirAll(filepath.Dir(b.Store), 0o700), gitcmd.CopyFile(b.GitDir, b.Store+".file"))
	}
	if err := os.RemoveAll(b.Store + ".file"); err != nil {
		return err
	}
	if !b.intact() {
		return nil
	}
	b.mode = info.Mode().Perm()
	err = errors.Join(privateDir(b.Store), update(b.GitDir, b.Store))
	if err != nil { // what stands there now may be of another kind than what was copied before
		err = b.recreate()
	}
	if err != nil && b.intact() {
		return fmt.Errorf("copy of .git: %w", err)
	}
	return nil
}

// privateDir makes a folder that no other user can look into, whatever is in it.
func privateDir(dir string) error { return errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)) }

// intact reports whether .git has what no repository is without, or was never copied.
func (b *Backup) intact() bool {
	if _, err := os.Lstat(filepath.Join(b.Store, gitcmd.HeadFile)); err != nil {
		return true
	}
	for _, name := range []string{gitcmd.HeadFile, "objects", "refs"} {
		if info, err := os.Lstat(filepath.Join(b.GitDir, name)); err != nil || info.IsDir() == (name == gitcmd.HeadFile) {
			return false
		}
	}
	return true
}

// recreate makes another copy, and then puts it in the place of the one there is.
func (b *Backup) recreate() error {
	half := b.Store + ".new"
	err := errors.Join(os.RemoveAll(half), privateDir(half))
	if err == nil {
		err = copyAll(b.GitDir, half)
	}
	if err == nil && !b.intact() {
		err = fs.ErrNotExist // it is being removed
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(half))
	}
	return errors.Join(os.RemoveAll(b.Store), os.Rename(half, b.Store))
}

// Mend puts back what git needs and can no longer read, and says in words what that was; "" when all is well.
func (b *Backup) Mend(ctx context.Context, repo *reanchor.Git) (string, error) {
	configured, err := b.mendConfig(ctx, repo)
	if err != nil {
		return "", err
	}
	if b.readable(ctx, repo) {
		return configured, nil
	}
	return b.Restore(ctx, func() bool { return b.readable(ctx, repo) })
}

// mendConfig puts the repository's configuration back when it keeps git from working in this checkout: the user would
// find it so in the morning. Other changes of it may be somebody's work.
func (b *Backup) mendConfig(ctx context.Context, repo *reanchor.Git) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if info, err := os.Lstat(b.GitDir); err != nil || !info.IsDir() {
		return "", nil // a linked worktree shares its configuration with others; there is no copy of it
	}
	if _, err := os.Stat(filepath.Join(b.Store, gitcmd.HeadFile)); err != nil || !b.configChanged() {
		return "", nil
	}
	if info, err := os.Lstat(filepath.Join(b.GitDir, configFiles[0])); err == nil && info.Mode().IsRegular() {
		if findsCheckout(ctx, repo) {
			return "", nil
		}
	}
	for _, name := range configFiles {
		to := filepath.Join(b.GitDir, name)
		if err := os.RemoveAll(to); err != nil {
			return "", err
		}
		if err := gitcmd.CopyFile(filepath.Join(b.Store, name), to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "the configuration of the repository in .git was damaged during the attempt; relay put it back", nil
}

// findsCheckout reports whether git finds a checkout where it was, as far as it can be asked.
func findsCheckout(ctx context.Context, repo *reanchor.Git) bool {
	found, err := reanchor.OpenGit(ctx, repo.Root())
	return err == nil && found.Root() == repo.Root() && found.GitDir() == repo.GitDir() || ctx.Err() != nil || gitcmd.Unasked(err) != nil
}

// configChanged reports whether the configuration is not the one of the copy.
func (b *Backup) configChanged() bool {
	return slices.ContainsFunc(configFiles, func(name string) bool {
		return !sameContent(filepath.Join(b.Store, name), filepath.Join(b.GitDir, name))
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
	return gitcmd.SameAs(one, theirs)
}

// Alone reports whether no other run in this checkout has a copy beside this one. A lock in .git would not tell: it goes
// with .git.
func (b *Backup) Alone() bool {
	beside, _ := os.ReadDir(filepath.Dir(b.Store))
	return !slices.ContainsFunc(beside, func(e fs.DirEntry) bool {
		return e.Name() != putBackLock && strings.TrimSuffix(e.Name(), ".file") != filepath.Base(b.Store)
	})
}

// Gone reports whether .git is no longer there, or only what somebody has written into its place since: relay's own
// lock, or that of a neighbour.
func (b *Backup) Gone() bool {
	info, err := os.Lstat(b.GitDir)
	if err == nil && info.IsDir() {
		_, err = os.Lstat(filepath.Join(b.GitDir, gitcmd.HeadFile))
	}
	return errors.Is(err, fs.ErrNotExist)
}

// putBackLock is beside the copies of all runs in this checkout.
const putBackLock = "put-back.lock"

// Close removes the copy at the end of a run that left the repository whole.
func (b *Backup) Close() error {
	err := errors.Join(os.RemoveAll(b.Store), os.RemoveAll(b.Store+".file"))
	_ = os.Remove(filepath.Dir(b.Store)) // unless another run has its copy there
	return err
}
