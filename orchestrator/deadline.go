package orchestrator

import (
	"context"
	"errors"
	"sync"

	"relay/orchestrator/decide"
)

// errDeadline is the cause with which agents are cancelled at the deadline.
var errDeadline = errors.New("the run's deadline has come")

// untilDeadline returns a context that is cancelled at the run's deadline. The caller calls over when it is done with it.
func untilDeadline(ctx context.Context, s *state, m *decide.Limits) (bounded context.Context, over func()) {
	if m.Deadline == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			now := s.Instant()
			rest := m.Deadline.Rest(now)
			if rest <= 0 {
				m.Expire()
				cancel(errDeadline)
				return
			}
			(&decide.Waiting{Rest: rest}).Wait(ctx, nil)
		}
	})
	return ctx, func() { cancel(nil); watch.Wait() }
}

// atDeadline reports whether an error only comes from being cancelled at the deadline.
func atDeadline(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), errDeadline) && (errors.Is(err, errDeadline) || errors.Is(err, context.Canceled))
}
