package bench

import (
	"context"
	"errors"
	"os"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
)

// TryChecks runs the checks of the epic and of its open tasks on the commit that a run would begin from, in clean checkouts, or,
// without slots, in the user's own one. Tasks with the same list of checks share its run. It returns them in the order of the
// plan. With proving, and slots, it sees which of them pass without the files of their tasks, too. Errors: *InUseError when a run
// is on, *attempts.RefusedError when none could be; others are failures of this machine, or say that the engine cannot try checks.
func TryChecks(ctx context.Context, open engine.Open, of *engine.LocalOptions, l *attempts.Ledger, proving bool) (Tried, error) {
	return try(ctx, open, of, func(e checkTrier) (Tried, error) { return e.TryChecks(ctx, l, proving) })
}

// TryEpic runs the checks of the epic on a commit in a clean checkout. Errors are those of [TryChecks].
func TryEpic(ctx context.Context, open engine.Open, of *engine.LocalOptions, commit string) (Tried, error) {
	return try(ctx, open, of, func(e checkTrier) (Tried, error) { return e.TryEpic(ctx, commit) })
}

func try(
	ctx context.Context, open engine.Open, of *engine.LocalOptions, checks func(checkTrier) (Tried, error),
) (tried Tried, err error) {
	dir, err := os.MkdirTemp("", "relay-check-")
	if err != nil {
		return tried, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o := *of
	o.Dir, o.Run = dir, "check"
	here, err := relayfiles.AcquireRun(ctx, &o)
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
	TryChecks(ctx context.Context, done *attempts.Ledger, proving bool) (Tried, error)
	TryEpic(ctx context.Context, commit string) (Tried, error)
}

// RefusesEpic returns the error with which Work would refuse to begin, as far as it can see that without changing anything; nil if
// it would begin. The ledger's reader returns what the ledger itself refuses.
func RefusesEpic(ctx context.Context, open engine.Open, o *engine.LocalOptions, l *attempts.Ledger) error {
	abilities, err := open(ctx, &o.Options, nil)
	if err != nil {
		return err
	}
	if err := relayfiles.EpicFree(o.Repo, o.Epic.ID, o.Dir); err != nil {
		return err
	}
	if o.Isolation != engine.IsolationWorktree {
		err = relayfiles.Unoccupied(o.Repo)
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
		if on := l.Record(id).Running(); on != nil {
			open = append(open, engine.Attempt{Run: on.Run, Task: epic.Task{ID: id}, Number: on.ID})
		}
	}
	return open
}
