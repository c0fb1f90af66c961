package decide

import (
	"context"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/updates"
)

// waiter records and tells what the run waits for.
type waiter struct {
	state *State
	last  updates.Update // the last one of a wait
}

// notifyWaiting records and tells what the run waits for, once however many workers wait. It is recorded first, so that a status
// asked for afterwards agrees. The task is "", or the whole epic that waits for its review. The caller holds Mu.
func (w *waiter) notifyWaiting(now clock.Instant, kind updates.Kind, task string, what attempts.Waiting) error {
	if w.last.Runner == what.For && w.last.Until.Equal(what.Until) {
		return nil
	}
	w.last = updates.Update{Kind: kind, Runner: what.For, Until: what.Until, Text: what.Why, Outcome: w.state.Pool.Last(what.For)}
	until := int64(what.Until.Sub(w.state.steps.began))
	w.state.Step(now, attempts.Step{Kind: attempts.StepWaited, Task: task, For: what.For, Until: until})
	if err := w.state.store.AppendLater(attempts.Event{Type: attempts.TypeWaiting, Waiting: &what, Steps: w.state.TakeSteps()}); err != nil {
		return err
	}
	w.state.Notify(w.last)
	return nil
}

// Waiting is what a worker without a task waits for.
type Waiting struct {
	Changed <-chan struct{}
	Rest    time.Duration // 0: only for a change
}

// LongestWait bounds one wait: timers stand still while the machine sleeps, and the time of day does not.
const LongestWait = time.Minute

// Wait returns after a change, the rest, or LongestWait, and when ctx or drain ends it.
func (w *Waiting) Wait(ctx context.Context, drain <-chan struct{}) {
	var timeout <-chan time.Time
	if w.Rest > 0 {
		timer := time.NewTimer(min(w.Rest, LongestWait))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
	case <-drain:
	case <-w.Changed:
	case <-timeout:
	}
}
