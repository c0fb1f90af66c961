package worker

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
)

// checkRunner runs checks on a commit until visit wants no more. What they change there is put back.
type checkRunner interface {
	ask(ctx context.Context, q checks.Question, f *state, visit checks.Visit) error
}

// BeginRecheck notes where the checks of completed tasks begin, for a run that finds what they left.
func (c *checkout) BeginRecheck(_ context.Context, a engine.Attempt, tip string) error {
	return c.beginJudging(a, tip)
}

// EndRecheck puts the checkout back.
func (c *checkout) EndRecheck(ctx context.Context, tip string) ([]attempts.Note, error) {
	return afterRecheck(ctx, tip, c.cleanUp)
}

// Recheck runs the checks of a completed task in the checkout.
func (c *checkout) Recheck(ctx context.Context, a engine.Attempt, tip string) (*engine.FailedCheck, error) {
	return recheck(ctx, c, c.workspace, a, tip)
}

// RecheckEpic returns nothing: the epic's checks have passed on every task's work.
func (c *checkout) RecheckEpic(ctx context.Context, a engine.Attempt, tip string) ([]engine.FailedCheck, error) {
	return recheckEpic(ctx, c, c.workspace, a, tip)
}

func afterRecheck(ctx context.Context, tip string, clean func(context.Context, *state) error) ([]attempts.Note, error) {
	f := state{Result: engine.Result{Outcome: attempts.Success, Head: tip}}
	err := clean(ctx, &f)
	return f.Notes, err
}

// recheck returns the first check of a task that fails on tip, and fails again when it is asked once more; nil: none.
func recheck(ctx context.Context, in checkRunner, w *workspace, a engine.Attempt, tip string) (found *engine.FailedCheck, err error) {
	q := checks.Question{
		Attempt: a, Logs: filesOf(w.o.Dir, a).checks, Commit: tip, Checks: checks.On(checks.OnEnd, checks.List(a.Task.Checks, nil)),
	}
	for _, q.Anew = range []bool{false, true} {
		found = nil
		f := state{Result: engine.Result{Outcome: attempts.Success, Head: tip}}
		err = in.ask(ctx, q, &f, func(check checks.Check, s checks.Result) (bool, error) {
			if !s.Passed() {
				found = &engine.FailedCheck{Run: s.Run, Why: w.checks.Why(check, s)}
			}
			return s.Passed(), nil
		})
		if err != nil || found == nil {
			break
		}
	}
	return found, err
}

func recheckEpic(ctx context.Context, in checkRunner, w *workspace, a engine.Attempt, tip string) (failed []engine.FailedCheck, err error) {
	q := checks.Question{
		Attempt: a, Logs: filesOf(w.o.Dir, a).checks, Commit: tip,
		Checks: checks.On(checks.OnEnd, checks.List(nil, w.o.Epic.Checks)), Before: true,
	}
	f := state{Result: engine.Result{Outcome: attempts.Success, Head: tip}}
	err = in.ask(ctx, q, &f, func(check checks.Check, s checks.Result) (bool, error) {
		if !s.Passed() {
			failed = append(failed, engine.FailedCheck{Run: s.Run, Why: w.checks.Why(check, s)})
		}
		return true, nil
	})
	return failed, err
}
