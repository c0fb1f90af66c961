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

// Head returns the tip of the integration branch.
func (s *slotEngine) Head(context.Context) (string, error) { return s.tips.Tip(), nil }

// ReviewEpic has the panel judge all that has landed, each reviewer in a clean checkout of the tip.
func (s *slotEngine) ReviewEpic(ctx context.Context, a engine.Attempt, head string, putOff []string) (engine.ReviewedEpic, error) {
	s.agentsEnter()
	d := s.attemptIn("", s.home, a).c.panelSession(a, filesOf(s.o.Dir, a).review)
	d.Room = s.reviewRoom(head)
	return d.ReviewEpic(ctx, head, putOff, onResult(s.cleanUp))
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
