// Package precheck tells, without a run, what a run would meet: whether it may begin, and how the checks do on what it begins from.
package precheck

import (
	"context"
	"errors"
	"os"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/bench"
	"relay/orchestrator/engine"
	"relay/orchestrator/runlock"
)

// TryChecks runs the checks of the epic and of its open tasks on the commit that a run would begin from, in clean checkouts, or,
// without slots, in the user's own one. Tasks with the same list of checks share its run. It returns them in the order of the
// plan. Where there are slots, it sees which of them pass without the files of their tasks, too. Errors: *InUseError when a run
// is on, *text.RefusedError when none could be; others are failures of this machine, or say that the engine cannot try checks.
func TryChecks(ctx context.Context, open engine.Factory, of *engine.LocalOptions, l *attempts.Ledger) (bench.Tried, error) {
	return try(ctx, open, of, func(e checkTrier) (bench.Tried, error) { return e.TryChecks(ctx, l) })
}

// TryEpic runs the checks of the epic on a commit in a clean checkout. Errors are those of [TryChecks].
func TryEpic(ctx context.Context, open engine.Factory, of *engine.LocalOptions, commit string) (bench.Tried, error) {
	return try(ctx, open, of, func(e checkTrier) (bench.Tried, error) { return e.TryEpic(ctx, commit) })
}

func try(
	ctx context.Context, open engine.Factory, of *engine.LocalOptions, checks func(checkTrier) (bench.Tried, error),
) (tried bench.Tried, err error) {
	dir, err := os.MkdirTemp("", "relay-check-")
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := *of
	o.Dir, o.Run = dir, "check"
	here, err := runlock.Acquire(ctx, &o)
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, here.Release()) }()
	abilities, err := open(ctx, &o.Options, make(chan engine.Event))
	if err != nil {
		return tried, err
	}
	with, ok := abilities.Engine.(checkTrier)
	if !ok {
		return tried, engine.Cannot(o.Engine, "try checks")
	}
	return checks(with)
}

// checkTrier is an engine that runs checks before a run.
type checkTrier interface {
	TryChecks(ctx context.Context, done *attempts.Ledger) (bench.Tried, error)
	TryEpic(ctx context.Context, commit string) (bench.Tried, error)
}

// Refuses returns the error with which Work would refuse to begin, as far as it can see that without changing anything; nil if
// it would begin. The ledger's reader returns what the ledger itself refuses.
func Refuses(ctx context.Context, open engine.Factory, o *engine.LocalOptions, l *attempts.Ledger) error {
	abilities, err := open(ctx, &o.Options, nil)
	if err != nil {
		return err
	}
	if err := runlock.EpicFree(o.Repo, o.Epic.ID, o.Dir); err != nil {
		return err
	}
	if o.Isolation != engine.IsolationWorktree {
		err = runlock.Unoccupied(o.Repo)
	}
	if err != nil || abilities.Lifecycle == nil {
		return err
	}
	return abilities.Lifecycle.Admit(ctx, l, OpenAttempts(o.Graph, l))
}

// OpenAttempts returns the attempts that a killed run left open, in the order of the plan.
func OpenAttempts(g *epic.Graph, l *attempts.Ledger) (open []engine.Attempt) {
	for i := range g.Len() {
		id := g.ID(i)
		if rec := l.Tasks[id]; rec != nil && rec.Running() != nil {
			open = append(open, engine.Attempt{Run: rec.Running().Run, Task: epic.Task{ID: id}, Number: rec.Running().ID})
		}
	}
	return open
}
