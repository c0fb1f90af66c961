package orchestrator

import (
	"context"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// waiter records and tells what the run waits for.
type waiter struct {
	state *state
	last  Update // the last one of a wait
}

// notifyWaiting records and tells what the run waits for, once however many workers wait. It is recorded first, so that a status
// asked for afterwards agrees. The task is "", or the whole epic that waits for its review. The caller holds mu.
func (w *waiter) notifyWaiting(now clock.Instant, kind UpdateKind, task string, what attempts.Waiting) error {
	if w.last.Runner == what.For && w.last.Until.Equal(what.Until) {
		return nil
	}
	w.last = Update{Kind: kind, Runner: what.For, Until: what.Until, Text: what.Why, Outcome: w.state.pool.Last(what.For)}
	until := int64(what.Until.Sub(w.state.steps.began))
	w.state.step(now, attempts.Step{Kind: attempts.StepWaited, Task: task, For: what.For, Until: until})
	if err := w.state.store.AppendLater(attempts.Event{Type: attempts.TypeWaiting, Waiting: &what, Steps: w.state.takeSteps()}); err != nil {
		return err
	}
	w.state.notify(w.last)
	return nil
}

// waiting is what a worker without a task waits for.
type waiting struct {
	changed <-chan struct{}
	rest    time.Duration // 0: only for a change
}

// longestWait bounds one wait: timers stand still while the machine sleeps, and the time of day does not.
const longestWait = time.Minute

// wait returns after a change, the rest, or longestWait, and when ctx or drain ends it.
func (w *waiting) wait(ctx context.Context, drain <-chan struct{}) {
	var timeout <-chan time.Time
	if w.rest > 0 {
		timer := time.NewTimer(min(w.rest, longestWait))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
	case <-drain:
	case <-w.changed:
	case <-timeout:
	}
}

// clockText returns a time in local time, as people read it.
func clockText(t time.Time) string { return t.Local().Format(time.RFC3339) }
