package worker

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/panel"
	"relay/reanchor"
)

// attemptSteps are the steps of an attempt that depend on where it works: a slot of its own, the user's checkout, or that checkout
// side by side with others.
type attemptSteps interface {
	// agentCheckout returns the checkout that the agent works in. It is another one when the first had to be opened again.
	agentCheckout() *checkout
	// prepare sets the checkout up and asks the checks what they say before the work. It takes note in a of what the agent is to know.
	// No agent is asked when its outcome is not a success.
	prepare(ctx context.Context, a *engine.Attempt) (state, error)
	// startAgentTime begins the time in which an agent's code runs; end ends it.
	startAgentTime(ctx context.Context) (end func(), err error)
	// guard puts back what was done to what is not the attempt's. It is asked whenever code that an agent had a hand in has run.
	guard(ctx context.Context, f *state) error
	// judge calls once to find out what a turn of the agent has come to, again if need be after the checkout was repaired.
	judge(ctx context.Context, f *state, once func(context.Context, *state) error) error
	// collect commits what the agent has left, and lists what the attempt has changed.
	collect(ctx context.Context, f *state) ([]reanchor.Change, error)
	// checkWork marks the committed work as the attempt's and runs the checks on it.
	checkWork(ctx context.Context, f *state) error
	// panelSession returns a session of reviewers who read the committed work.
	panelSession(f *state) *panel.Session
	// finish leaves the checkout as the next attempt or the user is to find it, once nothing more is asked of the agent.
	finish(ctx context.Context, f *state) error
}

// attempt is the course of one attempt.
type attempt struct {
	attemptSteps
	a engine.Attempt
	p attemptFiles
}

// run prepares the checkout, has the agent work, and holds what it made against the evidence, turn after turn, until there is nothing
// more to be asked of it. The error is a fault of relay's own machine, or of git in the checkout.
func (t *attempt) run(ctx context.Context) (state, error) {
	before, err := t.prepare(ctx, &t.a)
	if err != nil || before.Outcome != attempts.Success {
		return before, err
	}
	end, err := t.startAgentTime(ctx)
	if err != nil {
		return state{}, err
	}
	defer end()
	f, err := turnsIn(t.agentCheckout()).firstTurn(ctx, &t.a, t.p)
	if err != nil {
		return f, err
	}
	f.Receipt.Checks, f.Notes, f.onBase = before.Receipt.Checks, append(before.Notes, f.Notes...), before.onBase
	for more := true; more; {
		if err := t.guard(ctx, &f); err != nil {
			return f, err
		}
		if err := t.judge(ctx, &f, t.verify); err != nil {
			return f, err
		}
		if more, err = turnsIn(t.agentCheckout()).again(ctx, t.a, t.p, &f); err != nil {
			return f, err
		}
	}
	return f, t.finish(ctx, &f)
}

// verify collects what the agent made and holds a claimed success against the diff, the checks and the reviewers. Whatever that
// came to, code an agent had a hand in has run.
func (t *attempt) verify(ctx context.Context, f *state) error {
	names, err := t.collect(ctx, f)
	if err != nil {
		return err
	}
	c := t.agentCheckout()
	err = errors.Join(verifierIn(c).verifyDiff(ctx, t.a, names, f), verifierIn(c).failIfUnchanged(ctx, f))
	if err != nil || f.Outcome != attempts.Success {
		return err
	}
	if err := t.checkWork(ctx, f); err != nil {
		return err
	}
	f.judgeLeftovers()
	verifierIn(c).failIfNotDone(f)
	if f.Outcome == attempts.Success {
		if err := verifierIn(c).review(ctx, t.panelSession(f), f); err != nil {
			return err
		}
	}
	return t.guard(ctx, f)
}
