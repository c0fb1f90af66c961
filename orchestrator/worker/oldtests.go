package worker

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/checks"
	"relay/orchestrator/git/worktree"
	"relay/orchestrator/text"
	"relay/runners"
	"relay/runners/process"
)

// failIfRedWithOldTests runs the checks that pass once more, with the tests, check scripts and helpers that nobody asked to change as
// they were. A work that fails then, twice, passes only by its own version of them: that fails the attempt.
func (w *slotAttempt) failIfRedWithOldTests(ctx context.Context, f *state) error {
	if f.Outcome != attempts.Success || len(f.Old.Changed) == 0 {
		return nil
	}
	list := checks.On(checks.OnOld, checks.List(w.a.Task.Checks, w.o.Epic.Checks))
	q := checks.Question{Attempt: w.a, Logs: w.p.checks, Commit: f.Head, Checks: list, Anew: true, Lay: f.Old.All, LayFrom: w.a.Base}
	var red *checks.Result
	var at checks.Check
	for range 2 {
		red = nil
		err := w.ask(ctx, q, f, func(check checks.Check, s checks.Result) (bool, error) {
			if !s.Red() || check.OfEpic && f.onBase[check.Key()].Red() {
				return true, nil
			}
			red, at = &s, check
			return false, nil
		})
		if err != nil || red == nil || f.Outcome != attempts.Success {
			return err
		}
	}
	f.failWithOld(at, red.Run)
	return nil
}

// failIfRedWithOldTests is the same in the user's own checkout.
func (t *checkoutAttempt) failIfRedWithOldTests(ctx context.Context, f *state) (err error) {
	if f.Outcome != attempts.Success || len(f.Old.Changed) == 0 || t.tree == nil {
		return nil
	}
	tree := &worktree.Tree{Repo: t.repo}
	if err := tree.Lay(ctx, t.a.Base, f.Old.All); err != nil {
		return err
	}
	defer func() {
		uninterruptedCtx, cancel := uninterrupted(ctx)
		defer cancel()
		if back := tree.Lay(uninterruptedCtx, f.Head, f.Old.All); err == nil {
			err = back
		}
	}()
	for _, check := range checks.On(checks.OnOld, checks.List(t.a.Task.Checks, t.o.Epic.Checks)) {
		var s checks.Result
		failed := true
		for try := 0; failed && try < 2; try++ {
			if s, err = t.checks.Run(ctx, t.checkLocation(t.a, t.p), check); err != nil || ctx.Err() != nil {
				return err
			}
			failed = s.Red()
		}
		if failed {
			f.failWithOld(check, s.Run)
			return nil
		}
	}
	return nil
}

func (f *state) failWithOld(check checks.Check, run attempts.CheckRun) {
	run.Name = check.Name + ", with the tests as they were"
	f.Receipt.Checks = append(f.Receipt.Checks, run)
	f.Fail(attempts.Check, attempts.TestFailure, check.Name+" passes only with what the agent changed of "+text.Listed(f.Old.Changed)+
		", which the task does not name under files; with that as it was: "+runners.DescribeExit(process.Exit{Code: run.ExitCode}))
}
