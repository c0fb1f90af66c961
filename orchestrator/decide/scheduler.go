// Package decide makes the decisions of a run: which task starts with which runner, what the run waits for, what the end of an attempt
// means for its task and its runner, which work lands together. It decides from the events so far, the settings and two clocks that it
// is given, and starts, waits and writes nothing but its notes: the run loop carries out what it decides, and package replay asks it
// again what it would decide now. What only the loop needs (goroutines, engines, files) does not belong here.
package decide

import (
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/redact"
	"relay/orchestrator/runnerpool"
)

// Scheduler makes the decisions of a run: what starts and with which runner, what is waited for, what an attempt's end means, what
// lands together. All of it is decided from the events so far, the settings and the clocks, so a replay makes the same decisions.
type Scheduler struct {
	*State

	Limits     *Limits
	Dispatcher *Dispatcher
	Judge      *Judge
	Queue      *Queue // nil: attempts end landed
}

// Inputs are what a scheduler decides from besides its settings.
type Inputs struct {
	Ledger Ledger
	Now    func() time.Time     // the day's clock
	Ran    func() time.Duration // the run's clock
	Redact redact.Redactor
	Merges bool // work lands on an integration branch
}

// New returns the scheduler of a run that begins now.
func New(o *Settings, in Inputs) *Scheduler {
	s := &State{O: o, store: in.Ledger, Now: in.Now, Ran: in.Ran, Redact: in.Redact, Changed: make(chan struct{})}
	s.recallRequests()
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
	return d
}

// newPool makes the pool of runners, with the cooldowns and faults that the ledger has of earlier runs.
func newPool(s *State, deadline *clock.Deadline, now clock.Instant) *runnerpool.Pool {
	o := s.O
	pool := runnerpool.New(runnerpool.Options{
		Order: o.Runners, Panel: o.Reviewers, Backoff: o.Limits.Backoff, BackoffMax: o.Limits.BackoffMax, TaskFaults: o.Limits.TaskFaults,
		OutAfter: o.Limits.OutAfter, OutPeriod: o.Limits.OutPeriod, Deadline: deadline, Patience: o.Limits.Patience, Jitter: s.drawJitter(),
	})
	if !o.AskNow {
		s.store.View(func(l *attempts.Ledger) {
			pool.Learn(runnerpool.History(l))
			pool.Recall(l.Cooldowns, now)
		})
	}
	return pool
}
