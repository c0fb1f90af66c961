package orchestrator

import (
	"context"
	"errors"
	"os"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/runlock"
	"relay/orchestrator/worker"
)

// TryChecks runs the checks of the epic and of its open tasks on the commit that a run would begin from, in clean checkouts, or,
// without slots, in the user's own one. Tasks with the same list of checks share its run. It returns them in the order of the
// plan. Errors: *InUseError when a run is on, *text.RefusedError when none could be; others are failures of this machine.
func TryChecks(ctx context.Context, o Options, l *attempts.Ledger) (tried worker.Tried, err error) {
	dir, err := os.MkdirTemp("", "relay-check-")
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.Dir, o.Run = dir, "check"
	here, err := runlock.Acquire(ctx, o.engine())
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, here.Release()) }()
	local, err := worker.Open(ctx, o.engine(), make(chan engine.Event))
	if err != nil {
		return tried, err
	}
	return local.TryChecks(ctx, l)
}
