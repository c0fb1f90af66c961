package runlock

import (
	"errors"
	"io/fs"
	"os"

	"relay/attempts"
	"relay/orchestrator/git/gitcmd"
	"relay/reanchor"
)

// epicLock is a run's hold on its epic's id, by which branches and refs are named that all worktrees of the repository
// share.
type epicLock struct {
	repo *reanchor.Git
	who  attempts.Holder
	held *attempts.Held
}

// take takes the epic, or returns an *InUseError; a plain *attempts.HeldError when another run of the same ledger has it.
func (e *epicLock) take() (err error) {
	e.held, err = attempts.Hold(gitcmd.EpicLock(e.repo, e.who.Epic), e.who)
	return epicInUse(err, e.who.Dir)
}

// keep takes the epic anew when an agent has removed or changed the lock. When there is no .git in this moment, the next
// one to look does it.
func (e *epicLock) keep() error {
	if e.held != nil && e.held.Intact() {
		return nil
	}
	path := gitcmd.EpicLock(e.repo, e.who.Epic)
	if who, err := attempts.HeldBy(path); err == nil && who != nil && who.PID != 0 && *who != e.who { // it was free for a moment
		return &InUseError{Held: &attempts.HeldError{Holder: *who, Path: path}, Epic: true}
	}
	_ = e.leave() // of what is not ours any more nothing need be left
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := e.take(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// leave gives the epic back.
func (e *epicLock) leave() error {
	if e.held == nil {
		return nil
	}
	held := e.held
	e.held = nil
	return held.Release()
}

// epicInUse says of a lock of an epic that it is one, unless it is that of the ledger in dir, whose own lock says so too.
func epicInUse(err error, dir string) error {
	var held *attempts.HeldError
	switch {
	case !errors.As(err, &held):
		return err
	case (held.Holder.Dir == dir || held.Holder.Dir == "") && !held.Foreign:
		return &attempts.HeldError{Holder: held.Holder}
	}
	return &InUseError{Held: held, Epic: true}
}

// EpicFree refuses an epic that a run has which is not of the ledger in dir: in another checkout of the repository, say.
func EpicFree(repo *reanchor.Git, epicID, dir string) error {
	path := gitcmd.EpicLock(repo, epicID)
	who, err := attempts.HeldBy(path)
	if err != nil || who == nil || who.Dir == dir || who.Dir == "" {
		return err
	}
	return &InUseError{Held: &attempts.HeldError{Holder: *who, Path: path}, Epic: true}
}
