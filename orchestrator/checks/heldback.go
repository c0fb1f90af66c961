package checks

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// HoldBack ends an attempt before its agent begins when a check of the task cannot run at all, whatever the agent does. The
// task waits until nothing else is left to do: what lands meanwhile may bring what the check lacks. A check of the epic
// that cannot run is told once; what is red before the work is held against no task.
func (r *Runner) HoldBack(ctx context.Context, a engine.Attempt, check Check, s Result, f *engine.Result) (held bool) {
	if !s.Red() {
		return false
	}
	why := r.CannotRun(ctx, check, s.Run, a.Base)
	if why == "" {
		return false
	}
	if !check.OfEpic {
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
