package worker

import (
	"context"

	"relay/orchestrator/engine"
)

// Head returns the commit of the checkout.
func (c *checkout) Head(ctx context.Context) (string, error) { return c.repo.Head(ctx) }

// ReviewEpic has the panel judge all that has been done, in the checkout itself.
func (c *checkout) ReviewEpic(ctx context.Context, a engine.Attempt, head string, putOff []string) (engine.ReviewedEpic, error) {
	if err := c.beginJudging(a, head); err != nil {
		return engine.ReviewedEpic{}, err
	}
	return c.panelSession(a, filesOf(c.o.Dir, a).review).ReviewEpic(ctx, head, putOff, onResult(c.cleanUp))
}

// onResult has a function that works on an attempt's state work on a result.
func onResult(on func(context.Context, *state) error) func(context.Context, *engine.Result) error {
	return func(ctx context.Context, r *engine.Result) error {
		f := state{Result: *r}
		err := on(ctx, &f)
		*r = f.Result
		return err
	}
}
