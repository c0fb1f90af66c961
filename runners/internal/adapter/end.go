package adapter

import (
	"errors"

	"relay/runners"
	"relay/runners/process"
)

// CutOff reports whether an agent ended in the middle of what it did.
func (e ProcessEnd) CutOff() bool {
	return e.Exit.Stopped || e.Exit.Lost || e.Exit.Signal != "" || e.Exit.Code < 0
}

// Failed reports whether an agent ended by itself with another exit status than 0.
func (e ProcessEnd) Failed() bool { return e.Exit.Code != 0 && !e.Exit.Stopped }

// Unanswered reports whether the limit that ended an agent passed while it waited for its model.
func (e ProcessEnd) Unanswered(answered, toolRuns bool) bool {
	return errors.Is(e.Cause, ErrSilence) && !toolRuns || errors.Is(e.Cause, ErrWall) && !answered
}

// ProcessEnd is how a watched process ended.
type ProcessEnd struct {
	Exit      process.Exit
	Cause     error // why the process was stopped; nil: it ended by itself
	Cancelled bool  // relay's caller cancelled it
}

// Stopped names the outcome of an agent that relay stopped for a reason that says nothing of its work. The bool is
// false when its output decides: it ended by itself, or was stopped only because it lingered or could not succeed.
func (e ProcessEnd) Stopped(final bool) (runners.Outcome, string, bool) {
	switch {
	case e.Exit.Lost:
		return runners.Lost, "the process that watched the agent died; how the agent ended is unknown", true
	case e.Cause == nil, errors.Is(e.Cause, ErrLinger), errors.Is(e.Cause, ErrHopeless):
		return "", "", false
	case e.Cancelled:
		return runners.Stopped, "stopped: " + e.Cause.Error(), true
	case errors.Is(e.Cause, ErrFilled):
		return runners.Failed, e.Cause.Error(), true
	case final:
		return "", "", false
	case errors.Is(e.Cause, ErrWall):
		return runners.WallLimit, e.Cause.Error(), true
	case errors.Is(e.Cause, ErrSilence):
		return runners.SilenceLimit, e.Cause.Error(), true
	case errors.Is(e.Cause, ErrNoAnswer):
		return runners.Network, e.Cause.Error(), true
	case errors.Is(e.Cause, ErrFlood):
		return runners.Failed, e.Cause.Error(), true
	}
	return runners.Stopped, "stopped: " + e.Cause.Error(), true
}
