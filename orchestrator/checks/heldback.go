package checks

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// HoldBack ends an attempt before its agent begins when a check of the task cannot run at all, whatever the agent does, and when one of
// the epic cannot and the task has none of its own: nothing would prove its work. The task waits until nothing else is left to do: what
// lands meanwhile may bring what the check lacks. To a task with checks of its own, one of the epic that cannot run is told once; what is
// red before the work is held against no task.
func (r *Runner) HoldBack(ctx context.Context, a engine.Attempt, check Check, s Result, f *engine.Result) (held bool) {
	if !s.Red() {
		return false
	}
	why := r.CannotRun(ctx, check, s.Run, a.Base)
	if why == "" {
		return false
	}
	if check.OfEpic && len(a.Task.Checks) == 0 {
		why = "it has no check but those of the epic: " + why
	}
	if !check.OfEpic || len(a.Task.Checks) == 0 {
		s.Run.Phase = attempts.PhaseBaseline
		f.Receipt.Checks = append(f.Receipt.Checks, s.Run)
		f.Fail(attempts.Environment, attempts.MissingDependency, why)
		f.Held = true
		return true
	}
	if _, reported := r.reportedBroken.LoadOrStore(check.Name, true); !reported {
		f.Note("check", "a check of the epic, "+why+"; until then it proves nothing")
	}
	return false
}

// FailIfCannotRun finds it no fault of the agent's that a check of the task failed on its work when it could not run there,
// whatever the agent did. The next agent would be asked in vain as well.
func (r *Runner) FailIfCannotRun(ctx context.Context, a engine.Attempt, check Check, run attempts.CheckRun, f *engine.Result) {
	if why := r.CannotRun(ctx, check, run, a.Base); why != "" {
		f.Fail(attempts.Environment, attempts.MissingDependency, why)
		f.Gate = attempts.Infrastructure
	}
}
