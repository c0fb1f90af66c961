package bench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"relay/orchestrator/account"
	"relay/orchestrator/checks"
	"relay/orchestrator/text"
)

// Locks are what checks that passed on a work have rewritten: what they prove is not what would land.
type Locks struct {
	Ask     func(ctx context.Context, q checks.Question, tr *Trouble, visit checks.Visit) error
	Base    checks.Question // the same checks on the base of the work
	Rewrote []checks.Rewritten
	Dir     string // the agent's checkout
}

// Take puts lock files of package managers into the agent's checkout, but for those that the checks rewrite without the work too, and notes
// what the checks have rewritten. It reports whether the work has to be collected and checked again. That happens once.
func (l *Locks) Take(ctx context.Context, f *account.State) (again bool, err error) {
	if len(l.Rewrote) == 0 {
		return false, nil
	}
	var before []checks.Rewritten
	l.Base.Anew, l.Base.Watch, l.Base.Before = true, true, true
	err = l.Ask(ctx, l.Base, &Trouble{}, func(_ checks.Check, r checks.Result) (bool, error) {
		before = append(before, r.Rewrote...)
		return true, nil
	})
	root, opening := os.OpenRoot(l.Dir)
	if err = errors.Join(err, opening); err != nil {
		return false, err
	}
	defer root.Close()
	var taken, left []string
	for _, r := range l.Rewrote {
		switch {
		case slices.ContainsFunc(before, func(b checks.Rewritten) bool { return b.Path == r.Path }):
		case f.Locks || r.Lock == nil || write(root, r) != nil:
			left = append(left, r.Path)
		default:
			taken = append(taken, r.Path)
		}
	}
	switch {
	case len(taken) > 0:
		f.Note("check", "the checks wrote "+text.Listed(taken)+": it was taken into the work, which is checked with it")
		f.Locks, f.ClaimedFiles = true, append(f.ClaimedFiles, taken...)
		f.ForgetChecks()
	case len(left) > 0:
		f.Note("check", "the checks pass after writing "+text.Listed(left)+", which is in no commit: without it they may fail")
	}
	return len(taken) > 0, nil
}

// write replaces a file; what is in its way, such as a link, is not followed.
func write(root *os.Root, r checks.Rewritten) error {
	name := filepath.FromSlash(r.Path)
	return errors.Join(root.RemoveAll(name), root.WriteFile(name, r.Lock, 0o644))
}
