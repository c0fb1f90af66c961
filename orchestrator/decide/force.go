package decide

import (
	"time"

	"relay/attempts"
	"relay/orchestrator/ending"
	"relay/orchestrator/updates"
)

// Kept returns a function that takes back what deciding changes of the limits of the run: so a replay can ask what would be decided.
// The caller holds Mu.
func (d *Dispatcher) Kept() (restore func()) {
	m := d.limits
	stopped, exhausted, last, room := m.Stopped, m.ExhaustedBy, d.waiter.last, m.roomUntil
	return func() { m.Stopped, m.ExhaustedBy, d.waiter.last, m.roomUntil = stopped, exhausted, last, room }
}

// Force takes over a step that a run has recorded when nothing was to start. The caller holds Mu.
func (d *Dispatcher) Force(s attempts.Step) {
	switch s.Kind {
	case attempts.StepRetried:
		d.State.Plan.RetryPostponed()
	case attempts.StepStopped:
		d.limits.Stopped = StopReason{ending.Reason(s.For), s.For}
	case attempts.StepExhausted:
		d.limits.ExhaustedBy = d.limits.Budget.Exhausted()
	default:
		d.waiter.last = updates.Update{Runner: s.For, Until: d.State.steps.began.Add(time.Duration(s.Until))}
	}
}

// Undo takes back that the run starts nothing more, which a step says. The caller holds Mu.
func (d *Dispatcher) Undo(s attempts.Step) {
	switch s.Kind {
	case attempts.StepStopped:
		d.limits.Stopped = StopReason{}
	case attempts.StepExhausted:
		d.limits.ExhaustedBy = nil
	default: // it is of no consequence
	}
}
