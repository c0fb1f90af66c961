package orchestrator

import (
	"context"
	"path/filepath"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/text"
)

// workedIn says where the agent of an attempt was that a killed run left open: "" when it had not got to any place yet,
// and for IsolationShared, which leaves nothing of a task's own.
func (o orphan) workedIn(dir string) Isolation {
	p := placeOf(dir, Assignment{Run: o.attempt.Run, Task: epic.Task{ID: o.task}, Attempt: o.attempt.ID})
	switch {
	case exists(filepath.Join(p.folder, laneFile)):
		return IsolationWorktree
	case exists(filepath.Join(dir, "runs", o.attempt.Run, untrackedName)):
		return IsolationNone
	}
	return ""
}

// mayBegin refuses a run that cannot work as things are. What a killed run left in its kind of place is no reason: that is
// settled first.
func mayBegin(ctx context.Context, o *Options, l *attempts.Ledger, c local) error {
	if w, ok := c.(*lanes); ok {
		if err := w.claims(ctx, l); err != nil {
			return err
		}
	}
	here, err := sameGround(ctx, o, l)
	if err != nil || here || c.unclean() {
		return err
	}
	return c.settled(ctx)
}

// Refuses says why Work would not begin, as far as that can be told without changing anything; nil: it would. What the
// ledger itself refuses is for whoever has read it to say.
func Refuses(ctx context.Context, o Options, l *attempts.Ledger) error {
	c, err := openCheckout(ctx, &o, nil)
	if err != nil {
		return err
	}
	if err := EpicFree(o.Repo, o.Epic.ID, o.Dir); err != nil {
		return err
	}
	if o.Isolation != IsolationWorktree {
		err = unoccupied(o.Repo, func(theirs Isolation) bool { return o.Isolation == IsolationShared && theirs == IsolationShared })
	}
	if err != nil {
		return err
	}
	return mayBegin(ctx, &o, l, c)
}

// sameGround refuses a run that would look for work where it was not done: what a killed run left in worktrees is not in
// the checkout, and the other way round. here reports whether there is any in this run's own kind of place.
func sameGround(ctx context.Context, o *Options, l *attempts.Ledger) (here bool, err error) {
	if o.Isolation != IsolationNone && exists(filepath.Join(o.Dir, judgingName)) {
		return false, elsewhere(IsolationNone, "reviewers read or checks ran in this checkout")
	}
	for _, open := range orphansOf(o, l) {
		switch was := open.workedIn(o.Dir); was {
		case "":
		case o.Isolation:
			here = true
		default:
			return false, elsewhere(was, open.task+" was at work")
		}
	}
	return here, sameLine(ctx, o, l.Integration)
}

func elsewhere(was Isolation, during string) error {
	return &text.RefusedError{
		Reason: "a run with isolation: " + string(was) + " was killed while " + during + ", and what was left is to be looked at there",
		Hint:   "relay work --isolation " + string(was) + " goes on with it",
	}
}

// sameLine refuses a run in the checkout whose tasks would begin without what completed ones have made, because that has
// landed on the integration branch only.
func sameLine(ctx context.Context, o *Options, at attempts.Integration) error {
	if o.Isolation == IsolationWorktree || at.Branch == "" || at.Finished != "" {
		return nil
	}
	head, err := o.Repo.Head(ctx)
	if err != nil {
		return err
	}
	lacks, err := integration.NewBranch(o.Repo, o.Epic.ID, o.Landing).HasBeyond(ctx, head)
	if err != nil || !lacks {
		return err
	}
	return &text.RefusedError{
		Reason: "tasks of this epic have landed on " + at.Branch + ", and this checkout lacks their work",
		Hint:   "relay work --isolation worktree goes on there; or relay finish, then relay work",
	}
}
