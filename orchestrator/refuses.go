package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/runlock"
	"relay/orchestrator/worker"
)

// Refuses returns the error with which Work would refuse to begin, as far as that can be told without changing anything; nil if
// it would begin. What the ledger itself refuses is for its reader to say.
func Refuses(ctx context.Context, o Options, l *attempts.Ledger) error {
	c, err := worker.Open(ctx, o.engine(), nil)
	if err != nil {
		return err
	}
	if err := runlock.EpicFree(o.Repo, o.Epic.ID, o.Dir); err != nil {
		return err
	}
	if o.Isolation != engine.IsolationWorktree {
		err = runlock.Conflict(o.Repo, func(theirs engine.Isolation) bool {
			return o.Isolation == engine.IsolationShared && theirs == engine.IsolationShared
		})
	}
	if err != nil {
		return err
	}
	return c.Lifecycle.Admit(ctx, l, attemptsOf(openAttemptsOf(&o, l)))
}
