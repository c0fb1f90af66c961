package worker

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// slotReview looks at all that a run has landed: it is the [engine.Rechecker] and the [engine.EpicReviewer] of the slot engine.
type slotReview struct{ *slotEngine }

// BeginRecheck notes nothing on disk: checks run in checkouts of their own.
func (r slotReview) BeginRecheck(context.Context, engine.Attempt, string) error {
	r.watch()
	return nil
}

// EndRecheck puts back what checks have done to relay's own files, to .git and to the integration branch.
func (r slotReview) EndRecheck(ctx context.Context, tip string) ([]attempts.Note, error) {
	return afterRecheck(ctx, tip, r.cleanUp)
}

// Recheck runs the checks of a completed task in a checkout of the tip.
func (r slotReview) Recheck(ctx context.Context, a engine.Attempt, tip string) (*engine.FailedCheck, error) {
	return recheck(ctx, r, r.workspace, a, tip)
}

// RecheckEpic runs the epic's checks in a checkout of the tip.
func (r slotReview) RecheckEpic(ctx context.Context, a engine.Attempt, tip string) ([]engine.FailedCheck, error) {
	return recheckEpic(ctx, r, r.workspace, a, tip)
}

// Span returns where the integration branch ended when the run began, and its tip.
func (r slotReview) Span(context.Context) (from, tip string) { return r.from, r.headGuard.Tip() }

// Commit returns what has landed of an attempt.
func (r slotReview) Commit(a attempts.Attempt) string { return a.Landed }

// cleanUp puts back what a panel has done to relay's own files, to .git and to the integration branch.
func (r slotReview) cleanUp(ctx context.Context, f *state) error {
	ctx = context.WithoutCancel(ctx)
	defer r.unwatch()
	c := &checkout{workspace: r.workspace, repo: r.home, alone: r.alone}
	w := &slotAttempt{slotEngine: r.slotEngine, c: c}
	return errors.Join(guardIn(c).guard(ctx, f), w.guardHead(ctx, f))
}

// Head returns the tip of the integration branch.
func (r slotReview) Head(context.Context) (string, error) { return r.headGuard.Tip(), nil }

// ReviewEpic has the panel judge all that has landed, each reviewer in a clean checkout of the head.
func (r slotReview) ReviewEpic(ctx context.Context, a engine.Attempt, head string, putOff []string) (engine.ReviewedEpic, error) {
	r.watch()
	d := r.attemptIn("", r.home, a).c.panelSession(a, filesOf(r.o.Dir, a).review)
	d.Room = r.reviewSlots(head)
	return d.ReviewEpic(ctx, head, putOff, onResult(r.cleanUp))
}
