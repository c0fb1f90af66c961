package relayfiles

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/reanchor/git"
)

// InUseError means that another run works in this checkout, or on an epic of this id in another one, and that the two
// would be in each other's way.
type InUseError struct {
	Held *attempts.HeldError
	Epic bool // it is the epic that is worked elsewhere in this repository
}

// Error returns the message that says who has the checkout.
func (e *InUseError) Error() string {
	if e.Epic {
		return "the epic is worked in " + e.Held.Holder.Dir + ": " + e.Held.Error()
	}
	return "this checkout is " + e.Held.Error()
}

// Unwrap returns who has it, and since when.
func (e *InUseError) Unwrap() error { return e.Held }

// RunLock holds a run's locks. A run in slots leaves the checkout alone and locks only the epic, by whose id all worktrees of the
// repository name branches and refs.
type RunLock struct {
	locks   []*lock
	keeping sync.Mutex
}

// AcquireRun takes the checkout and the epic for a run. It returns an *InUseError if another run has one of them, or a plain
// *attempts.HeldError if that is a run of the same ledger.
func AcquireRun(_ context.Context, o *engine.LocalOptions) (*RunLock, error) {
	r, who := &RunLock{}, attempts.Self(o.Epic.ID, time.Now())
	if o.Isolation != engine.IsolationWorktree {
		checkout := &lock{path: checkoutLock(o.Repo), who: who}
		if rel, err := filepath.Rel(o.Root, o.Dir); err == nil {
			checkout.who.Dir = filepath.ToSlash(rel)
		}
		r.locks = append(r.locks, checkout)
	}
	who.Dir = o.Dir
	r.locks = append(r.locks, &lock{path: git.EpicLock(o.Repo, who.Epic), who: who, epic: true})
	for _, l := range r.locks {
		if err := l.take(); err != nil {
			return nil, errors.Join(err, r.Release())
		}
	}
	return r, nil
}

// Keep takes the locks again if an agent has removed or changed them. It returns an *InUseError if another run has one by then.
func (r *RunLock) Keep(context.Context) error {
	if r == nil {
		return nil
	}
	r.keeping.Lock()
	defer r.keeping.Unlock()
	for _, l := range r.locks {
		if err := l.keep(); err != nil {
			return err
		}
	}
	return nil
}

// Release releases the locks.
func (r *RunLock) Release() (err error) {
	for _, l := range r.locks {
		err = errors.Join(err, l.release())
	}
	return err
}

// lock is the lock file of a checkout or an epic. It exists only while a run holds it, or after that run was killed.
type lock struct {
	path string
	who  attempts.Holder
	epic bool
	held *attempts.Held
}

func (l *lock) take() (err error) {
	l.held, err = attempts.Hold(l.path, l.who)
	held, ok := errors.AsType[*attempts.HeldError](err)
	switch {
	case !ok:
		return err
	case (held.Holder.Dir == l.who.Dir || held.Holder.Dir == "") && !held.Foreign:
		return &attempts.HeldError{Holder: held.Holder} // a run of the same ledger, whose own lock says so too
	}
	return &InUseError{Held: held, Epic: l.epic}
}

// keep takes the lock again if it was removed or changed. Without .git it does nothing; the next call takes it.
func (l *lock) keep() error {
	if l.held != nil && l.held.Intact() {
		return nil
	}
	if who, err := attempts.HeldBy(l.path); err == nil && who != nil && who.PID != 0 && *who != l.who { // it was free for a moment
		return &InUseError{Held: &attempts.HeldError{Holder: *who, Path: l.path}, Epic: l.epic}
	}
	_ = l.release() // what another process has changed need not be removed
	if err := os.RemoveAll(l.path); err != nil {
		return err
	}
	if err := l.take(); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (l *lock) release() error {
	if l.held == nil {
		return nil
	}
	held := l.held
	l.held = nil
	return held.Release()
}

func checkoutLock(repo *git.Repo) string {
	return filepath.Join(repo.GitDir(), "relay-checkout.lock")
}

// Unoccupied returns an *InUseError if a run works in the checkout.
func Unoccupied(repo *git.Repo) error { return free(checkoutLock(repo), "", false) }

// EpicFree returns an *InUseError if a run has the epic whose ledger is not in dir.
func EpicFree(repo *git.Repo, epicID, dir string) error {
	return free(git.EpicLock(repo, epicID), dir, true)
}

func free(path, dir string, epic bool) error {
	who, err := attempts.HeldBy(path)
	if err != nil || who == nil || epic && (who.Dir == dir || who.Dir == "") {
		return err
	}
	return &InUseError{Held: &attempts.HeldError{Holder: *who, Path: path}, Epic: epic}
}
