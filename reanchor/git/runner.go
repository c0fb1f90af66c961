package git

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Runner runs git in one checkout. When a lock is in git's way, those that a git which was killed has left are removed,
// and git is run a second time.
type Runner struct {
	Repo   *Repo
	Branch string // full name of the ref that the checkout works on
}

// Git runs a command that may write, with stdin unless that is nil, and returns what it prints.
func (r Runner) Git(ctx context.Context, stdin io.ReadSeeker, args ...string) ([]byte, error) {
	call := Writing(args...)
	if stdin != nil {
		call.Stdin = stdin
	}
	return r.Run(ctx, call)
}

// Run runs a call. Its stdin must be an [io.Seeker] to be read a second time.
func (r Runner) Run(ctx context.Context, call Call) ([]byte, error) {
	out, err := r.Repo.Run(ctx, call)
	if err == nil || ctx.Err() != nil || !r.locked() {
		return out, err
	}
	// A git that was killed has left its lock, or an editor's git was quicker.
	if err := errors.Join(r.unlockOwn(), Unlatch(r.Repo, r.Branch)); err != nil {
		return out, err
	}
	if stdin, ok := call.Stdin.(io.Seeker); ok {
		if _, err := stdin.Seek(0, io.SeekStart); err != nil {
			return out, err
		}
	}
	return r.Repo.Run(ctx, call)
}

// locked reports whether the index is locked, or the branch the run works on.
func (r Runner) locked() bool {
	_, index := os.Lstat(filepath.Join(r.Repo.GitDir(), "index.lock"))
	_, branch := os.Lstat(lockOf(r.Repo, r.Branch))
	return index == nil || branch == nil
}

// Unlock removes the locks that a killed git of the attempt has left, or an agent has put there, as far as they are in
// relay's way. Call it only when the attempt's processes are gone. Of the locks that others take as well, a user at work
// in the repository for one, only those go that no living process can hold.
func (r Runner) Unlock() error {
	return errors.Join(r.unlockOwn(), Unlatch(r.Repo, "config", r.Branch))
}

// unlockOwn removes the locks that are this checkout's alone.
func (r Runner) unlockOwn() error {
	for _, name := range []string{"index.lock", "HEAD.lock", "ORIG_HEAD.lock", "config.worktree.lock"} {
		if err := os.RemoveAll(filepath.Join(r.Repo.GitDir(), name)); err != nil {
			return err
		}
	}
	return nil
}
