package orchestrator

import (
	"context"
	"slices"

	"relay/attempts"
)

// known reports whether what the checks have said of a task's work holds for the step it lands with: the files are the
// same, and nothing was excused by a base that is not the tip.
func (l *lanes) known(ctx context.Context, batch []Ready, step *Joint) (bool, error) {
	first := batch[0]
	if len(batch) > 1 || step.From != first.Assignment.Base && excused(first.Finding.Receipt.Checks) {
		return false, nil
	}
	moved, err := l.differ(ctx, step.To, first.Finding.Head)
	return !moved, err
}

// excused reports whether a check has failed and was not held against the task.
func excused(runs []attempts.CheckRun) bool {
	return slices.ContainsFunc(runs, func(run attempts.CheckRun) bool { return run.Attribution == attempts.BrokenBefore })
}
