package checks

import (
	"context"

	"relay/orchestrator/engine"
)

// HoldBack returns why a task waits before its agent begins: a check of it cannot run at all, whatever the agent does, or one of the epic
// cannot and the task has none of its own, so that nothing would prove its work. To a task with checks of its own, one of the epic that
// cannot run is noted once. Every task waits for a check of the epic that passes its limit and has not passed on any base of this run.
func (r *Runner) HoldBack(ctx context.Context, a engine.Attempt, check Check, s Result) (why, note string) {
	_, passed := r.passed.Load(check.Name)
	switch {
	case s.Passed():
		r.passed.Store(check.Name, true)
	case s.Red():
		why = r.CannotRun(ctx, check, s.Run, a.Base)
	case s.TimedOut && check.OfEpic && !passed:
		return check.Name + " " + r.TooMuch(check, s) + " before the work: raise its timeout or relay.check_timeout_minutes", ""
	}
	if why == "" || !check.OfEpic {
		return why, ""
	}
	if len(a.Task.Checks) == 0 {
		return "it has no check but those of the epic: " + why, ""
	}
	if _, reported := r.reportedBroken.LoadOrStore(check.Name, true); !reported {
		note = "a check of the epic, " + why + "; until then it proves nothing"
	}
	return "", note
}
