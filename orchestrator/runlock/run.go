// Package runlock holds a run's locks: on its epic, and on the checkout it works in.
package runlock

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/reanchor"
	"relay/runners/process"
)

// Lock files in the git folders of a repository. Each is there only while somebody has it, or when they were killed.
const (
	doorLock   = "relay-checkout.lock" // of a checkout: held for a moment by who looks at the other locks
	runLock    = "relay-"              // and the run, its isolation, and lockSuffix
	lockSuffix = ".lock"
)

// doorPatience is how long a run waits for the door.
const doorPatience = 5 * time.Second

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

// Run is a run's hold on its epic and on the checkout it works in. One with isolation none wants that
// for itself; any number with isolation shared go together.
type Run struct {
	epic epicLock
	dir  string // the checkout's git folder
	name string // of this run's lock file; "" : it leaves the checkout alone
	who  attempts.Holder
	held *attempts.Held

	keeping sync.Mutex
}

// Acquire takes the checkout and the epic for this run, or returns an *InUseError. The checkout comes first: there nobody
// meets a lock whose holder is still writing down who it is.
func Acquire(ctx context.Context, o *engine.LocalOptions) (*Run, error) {
	c := &Run{dir: o.Repo.GitDir(), who: attempts.Self(o.Epic.ID, time.Now())}
	c.epic = epicLock{repo: o.Repo, who: c.who}
	c.epic.who.Dir = o.Dir
	var err error
	if o.Isolation == engine.IsolationNone || o.Isolation == engine.IsolationShared {
		err = c.occupyCheckout(ctx, o)
	}
	if err == nil {
		err = c.epic.take()
	}
	if err != nil {
		return nil, errors.Join(err, c.Release())
	}
	return c, nil
}

// occupyCheckout takes the checkout, and ends what killed runs of other ledgers have left in it.
func (c *Run) occupyCheckout(ctx context.Context, o *engine.LocalOptions) error {
	c.name = runLock + o.Run + "." + string(o.Isolation) + lockSuffix
	if rel, err := filepath.Rel(o.Root, o.Dir); err == nil {
		c.who.Dir = filepath.ToSlash(rel)
	}
	dead, err := c.enter(ctx)
	for run := range dead {
		if _, err := os.Stat(filepath.Join(o.Dir, "runs", run)); err == nil {
			delete(dead, run) // of this ledger: see run.sweep
		}
	}
	if err == nil && len(dead) > 0 { // nobody else would end what a killed run of another ledger has left here
		_, err = process.Sweep(ctx, func(mark string) bool { run, _, _ := engine.CutMark(mark); return dead[run] }, o.Limits.StopGrace)
	}
	return err
}

// enter takes this run's lock unless another's is in its way, and returns the runs that were killed here.
func (c *Run) enter(ctx context.Context) (dead map[string]bool, err error) {
	door, err := attempts.HoldWithin(ctx, doorPatience, filepath.Join(c.dir, doorLock), c.who)
	if err != nil {
		return nil, inUse(err)
	}
	defer func() { err = errors.Join(err, door.Release()) }()
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, err
	}
	dead = make(map[string]bool)
	for _, e := range entries {
		run, isolation, ok := runOfLock(e.Name())
		if !ok {
			continue
		}
		gone, err := c.meet(filepath.Join(c.dir, e.Name()), isolation)
		if err != nil {
			return nil, err
		}
		if gone {
			dead[run] = true
		}
	}
	c.held, err = attempts.Hold(filepath.Join(c.dir, c.name), c.who)
	return dead, inUse(err)
}

// meet looks at the lock of another run: one that is in the way is an error, one that was killed is gone.
func (c *Run) meet(path string, theirs engine.Isolation) (gone bool, err error) {
	who, err := attempts.HeldBy(path)
	if err != nil {
		return false, err
	}
	if who == nil {
		dead, err := attempts.Hold(path, c.who)
		if err == nil {
			return true, dead.Release()
		}
		var left *attempts.HeldError
		if errors.As(err, &left) && left.Holder.Dir == c.who.Dir {
			return false, nil // on another host, on this epic: the ledger's own lock says what to do
		}
		return false, inUse(err)
	}
	if who.Dir == c.who.Dir {
		return false, &attempts.HeldError{Holder: *who} // two runs on one epic
	}
	if _, ours, _ := runOfLock(c.name); ours == engine.IsolationShared && theirs == engine.IsolationShared {
		return false, nil
	}
	return false, &InUseError{Held: &attempts.HeldError{Holder: *who, Path: path}}
}

// Keep takes the locks anew when an agent has removed or changed them, and .git with them, perhaps.
func (c *Run) Keep(ctx context.Context) error {
	if c == nil {
		return nil
	}
	c.keeping.Lock()
	defer c.keeping.Unlock()
	if err := c.epic.keep(); err != nil {
		return err
	}
	if c.held == nil || c.held.Intact() {
		return nil
	}
	_ = c.vacate() // of what is not ours any more nothing need be left
	if err := os.RemoveAll(filepath.Join(c.dir, c.name)); err != nil {
		return err
	}
	_, err := c.enter(context.WithoutCancel(ctx))
	return err
}

// Release gives the checkout and the epic back.
func (c *Run) Release() error {
	return errors.Join(c.vacate(), c.epic.leave())
}

// vacate gives the checkout back.
func (c *Run) vacate() error {
	if c.held == nil {
		return nil
	}
	held := c.held
	c.held = nil
	return held.Release()
}

// runOfLock takes the name of a run's lock file apart.
func runOfLock(name string) (run string, i engine.Isolation, ok bool) {
	rest, ours := strings.CutPrefix(name, runLock)
	rest, lock := strings.CutSuffix(rest, lockSuffix)
	run, isolation, parts := strings.Cut(rest, ".")
	return run, engine.Isolation(isolation), ours && lock && parts
}

// inUse marks who is in a run's way.
func inUse(err error) error {
	if held, ok := errors.AsType[*attempts.HeldError](err); ok {
		return &InUseError{Held: held}
	}
	return err
}

// Unoccupied refuses a checkout in which a run of another epic works.
func Unoccupied(repo *reanchor.Git) error {
	return Conflict(repo, func(engine.Isolation) bool { return false })
}

// Conflict is Unoccupied, but lets runs be that go together with one's own.
func Conflict(repo *reanchor.Git, together func(theirs engine.Isolation) bool) error {
	entries, err := os.ReadDir(repo.GitDir())
	if err != nil {
		return err
	}
	for _, e := range entries {
		_, theirs, ok := runOfLock(e.Name())
		if !ok || together(theirs) {
			continue
		}
		path := filepath.Join(repo.GitDir(), e.Name())
		who, err := attempts.HeldBy(path)
		if err != nil {
			return err
		}
		if who != nil {
			return &InUseError{Held: &attempts.HeldError{Holder: *who, Path: path}}
		}
	}
	return nil
}
