package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"relay/attempts"
	"relay/reanchor/git"
)

// readable reports whether git reads what it needs.
func (b *Backup) readable(ctx context.Context, repo *git.Repo) (sound bool) {
	if _, err := os.Lstat(b.GitDir); err != nil {
		return false
	}
	head, err := repo.Head(ctx)
	if err == nil && head != "" {
		var found *git.Repo
		found, err = git.Open(ctx, repo.Root())
		sound = err == nil && found.Root() == repo.Root() && found.GitDir() == repo.GitDir()
	}
	return sound || ctx.Err() != nil || git.Unasked(err) != nil
}

// Restore replaces .git by its copy, and says so in words. It moves the rest of the damaged one aside: newer commits can be fetched
// from there. Nothing is done when it is sound by then: side by side another attempt, or another run, may have
// been quicker.
func (b *Backup) Restore(ctx context.Context, sound func() bool) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	turn, err := attempts.HoldWithin(ctx, git.LockPatience,
		filepath.Join(filepath.Dir(b.Store), putBackLock), attempts.Self("", time.Now()))
	if err == nil { // whatever is wrong with the lock, .git is to be put back
		defer func() { _ = turn.Release() }()
	}
	if sound() {
		return "", nil
	}
	_, whole := os.Stat(filepath.Join(b.Store, git.HeadFile))
	if _, err := os.Stat(b.Store + ".file"); err != nil && whole != nil {
		return "", fmt.Errorf("the repository's .git is damaged or gone, and there is no copy of it: %w", whole)
	}
	why := "the repository's .git folder was damaged or removed during the attempt; relay put it back"
	left, err := b.moveAside()
	if err != nil {
		return "", err
	}
	if left != "" {
		why += " and moved what was left of it to " + left + " in its own folder"
	}
	if _, err := os.Stat(b.Store + ".file"); err == nil {
		return why, git.CopyFile(b.Store+".file", b.GitDir)
	}
	// Made beside it and then renamed: half a .git, after a crash, would be taken for no repository at all.
	half := b.Aside + ".new"
	if err = os.RemoveAll(half); err == nil {
		err = mirror(b.Store, half, b.take)
	}
	if err == nil && b.mode != 0 {
		err = os.Chmod(half, b.mode)
	}
	if err == nil {
		err = os.Rename(half, b.GitDir)
	}
	if err != nil {
		return "", fmt.Errorf("the repository's .git is gone and its copy cannot be put back: %w", err)
	}
	return why, nil
}

// moveAside moves what is left of .git to relay's folder, and returns its name there; "": nothing is left.
func (b *Backup) moveAside() (name string, err error) {
	if !git.Exists(b.GitDir) {
		return "", nil
	}
	aside := b.Aside
	for n := 2; git.Exists(aside); n++ {
		aside = fmt.Sprintf("%s-%d", b.Aside, n)
	}
	err = errors.Join(os.MkdirAll(filepath.Dir(aside), 0o755), os.Rename(b.GitDir, aside))
	if errors.Is(err, fs.ErrNotExist) { // an agent may remove it this moment
		return "", nil
	}
	return filepath.Base(aside), err
}
