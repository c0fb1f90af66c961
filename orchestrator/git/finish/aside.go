package finish

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"relay/attempts"
	"relay/orchestrator/git/slot"
	"relay/reanchor/git"
)

// Aside is a folder for the slots of a plan or a fork: a run may be at work in its own. Its holder has the lock beside it, by which
// [Remains] tells what is at work from what was killed.
type Aside struct {
	Dir  string // absolute
	held *attempts.Held
}

// AsideKind is a kind of work besides runs.
type AsideKind string

// Kinds of such work, by the end of the name of the folder that has its folders.
const (
	AsidePlans AsideKind = "-plans" // an agent writes a plan
	Forks      AsideKind = "-forks" // an agent goes on from a recorded conversation
)

const (
	lockSuffix    = ".lock"
	asideTries    = 3           // others may remove the folder around it when they end
	asidePatience = time.Second // who looks at what was left behind may have the lock for a moment
)

// asideDir returns the folder of the work id. worktrees is Worktree.Dir in the options of a run.
func asideDir(worktrees string, kind AsideKind, id string) string {
	return filepath.Join(worktrees+string(kind), id)
}

// HoldAside takes the folder of the work id, or fails if another process has it. worktrees is Worktree.Dir in the options of a run.
func HoldAside(ctx context.Context, worktrees string, kind AsideKind, id string) (a *Aside, err error) {
	dir := asideDir(worktrees, kind, id)
	if err := slot.CheckFolder(dir); err != nil {
		return nil, err
	}
	for range asideTries {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return nil, err
		}
		if a, err = takeAside(ctx, dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return a, err
}

func takeAside(ctx context.Context, dir string) (*Aside, error) {
	held, err := attempts.HoldWithin(ctx, asidePatience, dir+lockSuffix, attempts.Self("", time.Now()))
	if err != nil {
		return nil, err
	}
	return &Aside{dir, held}, nil
}

// Release gives the folder back, and removes it unless something stays in it.
func (a *Aside) Release() error {
	_ = os.Remove(a.Dir) // unless a slot stays in it
	err := a.held.Release()
	_ = os.Remove(filepath.Dir(a.Dir)) // unless there are others
	return err
}

// RunsAtWork says in words what plans and forks do now, by the id of the run in whose folder their files are. worktrees is Worktree.Dir in
// the options of a run, and runs the folder with the folders of runs.
func RunsAtWork(worktrees, runs string) (map[string]string, error) {
	doing := map[string]string{}
	plans, err := heldIDs(worktrees, AsidePlans)
	for _, id := range plans {
		doing[id] = "an agent writes a plan in it"
	}
	forks, failed := heldIDs(worktrees, Forks)
	if err = errors.Join(err, failed); len(forks) == 0 || err != nil {
		return doing, err
	}
	folders, err := os.ReadDir(runs)
	for _, run := range folders {
		for _, id := range forks {
			if _, err := os.Lstat(filepath.Join(runs, run.Name(), id)); err == nil {
				doing[run.Name()] = "an agent goes on from it with " + id
			}
		}
	}
	return doing, err
}

// heldIDs returns the ids of the work of a kind that goes on now.
func heldIDs(worktrees string, kind AsideKind) (held []string, err error) {
	ids, err := asideIDs(worktrees, kind)
	for _, id := range ids {
		who, failed := heldAside(asideDir(worktrees, kind, id))
		if err = errors.Join(err, failed); who != nil {
			held = append(held, id)
		}
	}
	return held, err
}

// asideIDs returns the ids of the work of a kind that has a folder or a lock.
func asideIDs(worktrees string, kind AsideKind) (ids []string, err error) {
	entries, err := os.ReadDir(worktrees + string(kind))
	if missing(err) {
		return nil, nil
	}
	for _, e := range entries {
		if id, isLock := strings.CutSuffix(e.Name(), lockSuffix); (isLock || e.IsDir()) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// asides lists what is left of plans and forks that are over, beside a folder of slots.
func (o Remains) asides(ctx context.Context, worktrees string) (found []Leftover, err error) {
	for _, kind := range []AsideKind{AsidePlans, Forks} {
		ids, err := asideIDs(worktrees, kind)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			left, err := o.aside(ctx, asideDir(worktrees, kind, id))
			if err != nil {
				return nil, err
			}
			found = append(found, left...)
		}
	}
	return found, nil
}

// aside lists what is left in one folder, unless somebody is at work there.
func (o Remains) aside(ctx context.Context, dir string) ([]Leftover, error) {
	who, err := heldAside(dir)
	if err != nil || who != nil {
		return nil, err
	}
	found, err := o.worktrees(ctx, dir)
	for _, rest := range []Leftover{{Kind: LeftFolder, Name: dir}, {Kind: LeftLock, Name: dir + lockSuffix}} {
		if _, err := os.Lstat(rest.Name); err == nil && len(found) == 0 {
			found = append(found, rest)
		}
	}
	for i := range found {
		found[i].aside = dir
	}
	return found, err
}

// removeAside removes a slot of a plan or fork that is over, if it is one, and its folder and lock when no slot is left.
func (o Remains) removeAside(ctx context.Context, l Leftover) (err error) {
	a, err := takeAside(ctx, l.aside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // somebody else has removed all of it
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Release()) }()
	if l.Kind == LeftWorktree {
		if err := o.removeSlot(ctx, l); err != nil {
			return err
		}
	}
	names, err := slot.NewPool(o.Git, a.Dir).Names(ctx)
	if err != nil || len(names) > 0 {
		return err
	}
	return git.RemoveTree(a.Dir) // it has at most what was being made when it was killed
}

// forking returns text that says that a fork is at work on a branch of a task.
func (o Remains) forking(branch string) (string, error) {
	who, err := heldAside(asideDir(o.Worktrees, Forks, filepath.Base(branch)))
	if err != nil || who == nil {
		return "", err
	}
	return "a fork is at work on it", nil
}

// heldAside returns who is at work in a folder, or nil.
func heldAside(dir string) (*attempts.Holder, error) {
	who, err := attempts.HeldBy(dir + lockSuffix)
	if missing(err) { // not even the folder around it is there
		return nil, nil //nolint:nilnil // no holder, as of attempts.HeldBy
	}
	return who, err
}

// missing reports whether there is nothing at a path, or a file that a person has put where a folder would have to be.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
