// Package decide makes the decisions of a run: which task starts with which runner, what the run waits for, what the end of an attempt
// means for its task and its runner, which work lands together. It decides from the events so far, the settings and two clocks that it is
// given, and starts, waits and writes nothing but its notes: the run loop carries out what it decides, and package replay asks it again
// what it would decide now. Goroutines, engines and files belong in the loop.
//
// ending.go says why a run ended and what it came to.
//
// updates.go says what a run tells a watcher while it goes on.
package decide

import (
	"context"
	"time"

	"relay/attempts"
	"relay/orchestrator/limits"
	"relay/orchestrator/secrets"
)

// Scheduler makes the decisions of a run: what starts and with which runner, what is waited for, what an attempt's end means, what
// lands together. All of it is decided from the events so far, the settings and the clocks, so a replay makes the same decisions.
type Scheduler struct {
	*State

	Limits     *Limits
	Dispatcher *Dispatcher
	Requests   *Requests
	Judge      *Judge
	Queue      *Queue // nil: attempts end landed
}

// Inputs are what a scheduler decides from besides its settings.
type Inputs struct {
	Ledger Ledger
	Now    func() time.Time     // the day's clock
	Ran    func() time.Duration // the run's clock
	Redact secrets.Cleaner
	Merges bool // work lands on an integration branch
}

// New returns the scheduler of a run that begins now.
func New(o *Settings, in Inputs) *Scheduler {
	s := &State{O: o, store: in.Ledger, Now: in.Now, Ran: in.Ran, Redact: in.Redact, Changed: make(chan struct{})}
	recallRequests(s)
	w := &waiter{state: s}
	now := s.Instant()
	m := newLimits(s, w, now)
	s.Pool = newPool(s, m.Deadline, now)
	s.Step(now, attempts.Step{Kind: attempts.StepBegun, Rules: s.rules(in.Merges)})
	d := &Scheduler{State: s, Limits: m, Judge: &Judge{state: s, limits: m}}
	if in.Merges {
		d.Queue = &Queue{state: s}
	}
	d.Dispatcher = &Dispatcher{State: s, limits: m, waiter: w, queue: d.Queue}
	d.Requests = &Requests{state: s, limits: m, queue: d.Queue}
	return d
}

// recallRequests takes over what a person has asked of the run that this one goes on from.
func recallRequests(s *State) {
	s.Withheld = map[int]bool{}
	s.store.View(func(l *attempts.Ledger) {
		if !l.GoesOn() {
			return
		}
		s.Paused = !l.Paused.IsZero()
		for id := range l.Held {
			if i, ok := s.O.Graph.Index(id); ok {
				s.Withheld[i] = true
			}
		}
	})
}

// newPool makes the pool of runners, with the cooldowns and faults that the ledger has of earlier runs.
func newPool(s *State, deadline *limits.Deadline, now limits.Instant) *limits.Pool {
	o, jitter := s.O, s.O.Jitter
	if jitter != nil {
		jitter = func(most time.Duration) time.Duration {
			late := o.Jitter(most)
			s.steps.drawn = append(s.steps.drawn, int64(late))
			return late
		}
	}
	pool := limits.NewPool(limits.PoolOptions{
		Order: o.Runners, Panel: o.Reviewers, Backoff: o.Limits.Backoff, BackoffMax: o.Limits.BackoffMax, TaskFaults: o.Limits.TaskFaults,
		OutAfter: o.Limits.OutAfter, OutPeriod: o.Limits.OutPeriod, Deadline: deadline, Patience: o.Limits.Patience, Jitter: jitter,
	})
	if !o.AskNow {
		s.store.View(func(l *attempts.Ledger) {
			pool.Recall(l.Cooldowns, now)
		})
	}
	return pool
}

// waiter records and tells what the run waits for.
type waiter struct {
	state *State
	last  Update // the last one of a wait
}

// notifyWaiting records and tells what the run waits for, once however many workers wait. It is recorded first, so that a status
// asked for afterwards agrees. The task is "", or the whole epic that waits for its review. The caller holds Mu.
func (w *waiter) notifyWaiting(now limits.Instant, kind UpdateKind, task string, what attempts.Waiting) error {
	if w.last.Runner == what.For && w.last.Until.Equal(what.Until) {
		return nil
	}
	w.last = Update{Kind: kind, Runner: what.For, Until: what.Until, Text: what.Why, Outcome: w.state.Pool.Last(what.For)}
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
	Answer  bool          // of a person: nothing else is left to do
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
