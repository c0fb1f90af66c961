package worker

import (
	"context"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// known reports whether what the checks have said of a task's work holds for the step it lands with: the files are the
// same, and nothing was excused by a base that is not the tip.
func (s *slotEngine) known(ctx context.Context, batch []engine.Proved, step *mergeStep) (bool, error) {
	first := batch[0]
	if len(batch) > 1 || step.from != first.Attempt.Base && excused(first.Result.Receipt.Checks) {
		return false, nil
	}
	moved, err := s.differ(ctx, step.to, first.Result.Head)
	return !moved, err
}

// excused reports whether a check has failed and was not held against the task.
func excused(runs []attempts.CheckRun) bool {
	return slices.ContainsFunc(runs, func(run attempts.CheckRun) bool { return run.Attribution == attempts.BrokenBefore })
}

// proveOne runs the checks of one of a batch on the step's tree. A landing that would be sent back is asked once more: a
// flake costs less than an agent that does it all again.
func (s *slotEngine) proveOne(ctx context.Context, batch []engine.Proved, i int, step *mergeStep) (f state, err error) {
	prove := func() error {
		f = state{Result: batch[i].Result}
		f.Receipt.Checks, f.Notes = slices.Clone(f.Receipt.Checks), slices.Clone(f.Notes)
		return s.watched(ctx, func() error { return s.proveMerged(ctx, s.merged(batch[i], i == 0), step, &f) })
	}
	if err := prove(); err != nil || len(batch) > 1 || f.Outcome != attempts.Conflict {
		return f, err
	}
	failed := f.Receipt.Checks[len(f.Receipt.Checks)-1].Name
	if err = prove(); err == nil && f.Outcome == attempts.Success {
		f.Note("flaky", failed+" failed once on what "+batch[i].Attempt.Task.ID+" makes with all that has landed, and passed when it was asked once more")
	}
	return f, err
}

// undone reports whether a check of the epic that fails on a batch, and on the tip, has passed on the work of one of the
// batch: alone that one would have mended it, and what breaks it again would not have landed.
func undone(batch []engine.Proved, i int, runs []attempts.CheckRun) bool {
	return len(batch) > 1 && slices.ContainsFunc(runs[len(batch[i].Result.Receipt.Checks):], func(now attempts.CheckRun) bool {
		return now.Attribution == attempts.BrokenBefore && slices.ContainsFunc(batch, func(r engine.Proved) bool {
			return slices.ContainsFunc(r.Result.Receipt.Checks, func(own attempts.CheckRun) bool {
				return own.Name == now.Name && own.Phase == attempts.PhaseMerged && own.ExitCode == 0 && own.Attribution != attempts.StayedClean
			})
		})
	})
}
