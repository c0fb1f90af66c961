package worker

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/panel"
	"relay/reanchor"
)

// checkoutAttempt is one attempt in the user's own checkout.
type checkoutAttempt struct {
	*checkout
	a engine.Attempt
	p attemptFiles
}

// attempt returns the course of an attempt in the checkout.
func (c *checkout) attempt(a engine.Attempt) *attempt {
	t := &attempt{a: a, p: filesOf(c.o.Dir, a)}
	own := checkoutAttempt{checkout: c, a: a, p: t.p}
	t.attemptSteps = &own
	if c.tree == nil {
		t.attemptSteps = &sharedAttempt{own}
	}
	return t
}

func (t *checkoutAttempt) agentCheckout() *checkout { return t.checkout }

// prepare asks the checks what they say before the work, unless the agent has ended under an earlier run.
func (t *checkoutAttempt) prepare(ctx context.Context, a *engine.Attempt) (state, error) {
	before := state{Result: engine.Result{Outcome: attempts.Success}}
	if a.Ended {
		return before, nil
	}
	base, err := t.baseline(ctx, &before)
	if err != nil || before.Outcome != attempts.Success {
		return before, err
	}
	if before.onBase = base; t.tree != nil {
		a.BriefInput.Red, a.BriefInput.Passing = base.Red(t.o.Epic.Checks), base.Early(&a.Task)
	}
	return before, nil
}

func (t *checkoutAttempt) startAgentTime(context.Context) (end func(), err error) {
	t.watch()
	return t.unwatch, nil
}

func (t *checkoutAttempt) guard(ctx context.Context, f *state) error {
	return guardIn(t.checkout).guard(ctx, f)
}

func (t *checkoutAttempt) judge(ctx context.Context, f *state, once func(context.Context, *state) error) error {
	return once(ctx, f)
}

func (t *checkoutAttempt) collect(ctx context.Context, f *state) ([]reanchor.Change, error) {
	return collectorIn(t.checkout).collectWork(ctx, t.a, f)
}

// checkWork saves a copy of .git, with the work in it, and runs the checks in the checkout as it is.
func (t *checkoutAttempt) checkWork(ctx context.Context, f *state) error {
	if len(t.a.Task.Checks)+len(t.o.Epic.Checks) > 0 || len(t.o.Review.Reviewers) > 0 {
		if err := t.backup.Save(); err != nil { // what runs next is the agent's as well
			return err
		}
	}
	return errors.Join(t.runChecks(ctx, f), t.failIfRedWithOldTests(ctx, f))
}

func (t *checkoutAttempt) panelSession(f *state) *panel.Session {
	return t.checkout.panelSession(t.a, f.folder(t.p.review))
}

// finish leaves a success on the branch and sets anything else aside.
func (t *checkoutAttempt) finish(ctx context.Context, f *state) error {
	f.waiveCharge()
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	return t.tree.Records.Do(ctx, func() error { return t.leave(ctx, f) })
}

func (t *checkoutAttempt) leave(ctx context.Context, f *state) error {
	var err error
	if f.Outcome == attempts.Success {
		t.recordScope(&t.a.Task, &f.Result)
		t.base.epic = f.epicResults
		err = t.tree.Restore(ctx, f.Head)
	} else {
		err = collectorIn(t.checkout).setAside(ctx, t.a, t.p, f)
	}
	collectorIn(t.checkout).recordLeft(f)
	return errors.Join(err, t.backup.Save())
}

// sharedAttempt is one attempt side by side with others in one checkout. Changes belong to no task there: nothing is collected,
// reviewed or put back.
type sharedAttempt struct{ checkoutAttempt }

// judge holds a claimed success against the task's own checks. An agent without a result is asked for it first, and not again.
func (t *sharedAttempt) judge(ctx context.Context, f *state, _ func(context.Context, *state) error) error {
	if asked, err := turnsIn(t.checkout).askResult(ctx, t.a, t.p, f); err != nil {
		return err
	} else if asked {
		if err := t.guard(ctx, f); err != nil {
			return err
		}
	}
	if f.Outcome == attempts.Success && len(t.a.Task.Checks) > 0 {
		if err := errors.Join(t.runChecks(ctx, f), t.guard(ctx, f)); err != nil {
			return err
		}
		f.revertUncharged()
	}
	if f.noResult != nil {
		f.noResult.asked = true
	}
	return nil
}

func (t *sharedAttempt) finish(context.Context, *state) error { return nil }
