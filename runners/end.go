package runners

import (
	"errors"

	"relay/runners/process"
)

// cutOff says whether an agent ended in the middle of what it did.
func (e end) cutOff() bool {
	return e.exit.Stopped || e.exit.Lost || e.exit.Signal != "" || e.exit.Code < 0
}

// unanswered says whether the limit that ended an agent passed while it waited for its model.
func (e end) unanswered(heard, toolRuns bool) bool {
	return errors.Is(e.cause, errSilence) && !toolRuns || errors.Is(e.cause, errWall) && !heard
}

// end is how a watched process ended.
type end struct {
	exit  process.Exit
	cause error // why the process was stopped; nil: it ended by itself
	over  bool  // relay's caller cancelled it
}

// stopped names the outcome of an agent that relay stopped for a reason that says nothing of its work. The bool is
// false when its output decides: it ended by itself, or was stopped only because it lingered or could not succeed.
func (e end) stopped(final bool) (Outcome, string, bool) {
	switch {
	case e.exit.Lost:
		return Lost, "the process that watched the agent died; how the agent ended is unknown", true
	case e.cause == nil, errors.Is(e.cause, errLinger), errors.Is(e.cause, errHopeless):
		return "", "", false
	case e.over:
		return Stopped, "stopped: " + e.cause.Error(), true
	case final:
		return "", "", false
	case errors.Is(e.cause, errWall):
		return WallLimit, e.cause.Error(), true
	case errors.Is(e.cause, errSilence):
		return SilenceLimit, e.cause.Error(), true
	case errors.Is(e.cause, errUnheard):
		return Network, e.cause.Error(), true
	case errors.Is(e.cause, errFlood):
		return Failed, e.cause.Error(), true
	}
	return Stopped, "stopped: " + e.cause.Error(), true
}
