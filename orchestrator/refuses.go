package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/runlock"
	"relay/orchestrator/worker"
)

// Refuses says why Work would not begin, as far as that can be told without changing anything; nil: it would. What the
// ledger itself refuses is for whoever has read it to say.
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

// attemptsOf names the attempts that a killed run left open.
func attemptsOf(orphans []openAttempt) (open []engine.Attempt) {
	for _, o := range orphans {
		open = append(open, engine.Attempt{Run: o.attempt.Run, Task: epic.Task{ID: o.task}, Number: o.attempt.ID})
	}
	return open
}
