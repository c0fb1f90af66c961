package worker

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/git/gitcmd"
	"relay/orchestrator/git/integration"
	"relay/orchestrator/worker/merge"
)

// Whoever types git prune, or git gc --prune=now, takes away what a git beside it, relay's or an agent's, has written and
// nothing leads to yet. What relay makes it makes again, and what an agent had committed is committed again from its files.

// maxObjectTries bounds how often in a row that is done.
const maxObjectTries = 5

// judge opens the slot again and finds out what a turn of the agent has come to: anew when objects of it were deleted meanwhile.
func (w *slotAttempt) judge(ctx context.Context, f *state, once func(context.Context, *state) error) error {
	if err := w.reopenSlot(ctx, f); err != nil {
		return err
	}
	before := *f
	for try := 1; ; try++ {
		err := once(ctx, f)
		if err == nil && f.Outcome == attempts.Success || err != nil && !gitcmd.Refused(ctx, err) || w.gone || try == maxObjectTries {
			return err
		}
		cleared, regaining := w.regain(ctx)
		if regaining != nil || !cleared && (err == nil || try > 1) {
			return errors.Join(err, regaining)
		}
		notes, onBase := f.Notes, f.onBase
		*f = before
		f.Notes, f.onBase = notes, onBase
		if cleared {
			f.Note("salvage", "git prune has deleted objects of this attempt that no branch had yet: its files are committed again")
		}
	}
}

func (w *slotAttempt) regain(ctx context.Context) (bool, error) {
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	return w.c.tree.Regain(ctx, w.a.Base)
}

// stamp marks the commits and puts the task's branch onto them. Before that nothing leads to them: when the user's git has
// cleared away what is unreachable in that moment, they are made again.
func (w *slotAttempt) stamp(ctx context.Context, f *state) error {
	for try := 1; ; try++ {
		if err := w.c.tree.Keep(ctx, w.c.tree.Branch, f.Head); err != nil {
			if try < maxObjectTries && gitcmd.Refused(ctx, err) && gitcmd.Has(ctx, w.c.repo, f.Head) {
				continue
			}
			return err
		}
		stamped, err := w.integration.AddTrailers(ctx, integration.AttemptCommits{
			Base: w.a.Base, Head: f.Head, Began: w.p.begun(), Trailers: merge.Trailers(w.o, w.a),
		})
		if err != nil {
			return err
		}
		err = w.attemptIn("", w.home, w.a).c.tree.Keep(ctx, w.c.tree.Branch, stamped)
		if err == nil {
			f.Head = stamped
			return w.c.tree.Follow(ctx, stamped)
		}
		if try == maxObjectTries || ctx.Err() != nil || gitcmd.Has(ctx, w.home, stamped) {
			return err
		}
	}
}
