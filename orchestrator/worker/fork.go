package worker

import (
	"context"
	"errors"

	"relay/orchestrator/engine"
)

// Fork has an agent work on the prompt of an attempt that is none of a plan's, in a repository of its own at the attempt's base, and
// keeps what it makes below refs/relay: nothing of it lands. The engine must be one of slots. The result's receipt names the ref; stay says
// in words what could not be removed afterwards.
func (l *Local) Fork(ctx context.Context, a engine.Attempt) (r engine.Result, stay []string, err error) {
	s := l.slots
	if err := errors.Join(s.CheckReady(ctx), s.excludeProvisioned(ctx)); err != nil {
		return r, nil, err
	}
	r, err = s.Run(ctx, a)
	if err == nil && r.Succeeded() {
		err = mergeWork{s}.Keep(ctx, a, &r)
	}
	ctx, cancel := uninterrupted(ctx)
	defer cancel()
	stay, closing := s.removeSlots(ctx)
	err = errors.Join(err, closing, s.pool.Close(), s.run.guard.Tools.Close())
	return r, stay, err
}
