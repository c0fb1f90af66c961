package decide

import (
	"context"
	"fmt"

	"relay/attempts"
	"relay/orchestrator/breaker"
	"relay/orchestrator/budget"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/updates"
	"relay/orchestrator/verdict"
)

// Limits are the run's deadline, budget, circuit breaker and floors: they keep new attempts from starting, and stop those that
// are under way at the deadline or when a budget is exhausted. They are guarded by the lock of state.
type Limits struct {
	state  *State
	waiter *waiter

	Deadline  *clock.Deadline // nil: none
	Stopped   StopReason      // its zero value: the run may go on
	breaker   breaker.Breaker
	uncharged int             // attempts that ended so in this run
	roomUntil *clock.Deadline // how long a machine that lacks room is still waited for; nil: it has room

	Budget      *budget.Tracker
	stops       map[string]context.CancelCauseFunc // of the attempts that run, by task
	ExhaustedBy *budget.ExhaustedError             // nothing more is started
	stopping    map[string]bool                    // of these, whom a person has stopped
	used        map[string]attempts.Usage          // what attempts under way have told to have used, by task
}

func newLimits(s *State, w *waiter, now clock.Instant) *Limits {
	m := &Limits{
		state: s, waiter: w, stops: make(map[string]context.CancelCauseFunc), stopping: make(map[string]bool),
		used:    make(map[string]attempts.Usage),
		breaker: breaker.New(breaker.Limits{SameError: s.O.Limits.SameError, InARow: s.O.Limits.FailedInARow, Pause: s.O.Limits.BackoffMax}),
	}
	s.store.View(func(l *attempts.Ledger) { m.Budget = budget.New(s.O.Budget, s.O.Spent, l) })
	if !s.O.Until.IsZero() {
		m.Deadline = &clock.Deadline{Day: s.O.Until, Run: now.Run + s.O.Until.Sub(now.Day), Named: true}
	}
	return m
}

// StopReason is why a run starts nothing more although tasks are left. Attempts under way come to their end, except at the
// deadline.
type StopReason struct {
	Reason ending.Reason
	Why    string // in words
}

// stop makes the run start nothing more, and records why; the first reason stays. The caller holds Mu.
func (m *Limits) stop(now clock.Instant, reason ending.Reason, why string) error {
	if m.Stopped.Reason != "" {
		return nil
	}
	m.Stopped = StopReason{reason, why}
	m.state.Step(now, attempts.Step{Kind: attempts.StepStopped, For: string(reason)})
	m.state.Notify(updates.Update{Kind: updates.Stopping, Text: why})
	m.state.Announce()
	note := attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: "limit", Text: why}, Steps: m.state.TakeSteps()}
	return m.state.store.AppendLater(note)
}

// Expire stops the run at its deadline.
func (m *Limits) Expire() {
	m.state.Mu.Lock()
	err := m.stop(m.state.Instant(), ending.Deadline, "the deadline has come: running attempts are asked to end, and their work is kept")
	m.state.Mu.Unlock()
	if err != nil {
		m.state.Fail(err)
	}
}

// pointless reports whether a wait would last beyond the run's deadline.
func (m *Limits) pointless(at clock.Deadline, now clock.Instant) bool {
	return m.Deadline != nil && at.Rest(now) >= m.Deadline.Rest(now)
}

// checkLimits holds the end of an attempt against the circuit breaker. The caller holds Mu.
func (m *Limits) checkLimits(now clock.Instant, index int, a engine.Attempt, after verdict.After, e attempts.Ended) error {
	switch {
	case after.Task == verdict.TaskCompleted:
		return m.breakerCompleted(a)
	case after.Blamed:
		return m.judgeFailure(now, index, a, e)
	}
	return nil
}

// countUncharged stops the run after too many attempts that ended through no fault of an agent. The caller holds Mu.
func (m *Limits) countUncharged(now clock.Instant, after verdict.After, e attempts.Ended, rule Ruling) error {
	if !after.Uncharged || rule.repeat {
		return nil
	}
	m.uncharged++
	if most := m.state.O.Limits.MaxUnchargedRun; most > 0 && m.uncharged >= most {
		return m.stop(now, ending.UnchargedRetries, fmt.Sprintf("%d attempts of this run ended through no fault of an agent; the last: %s", m.uncharged, e.Receipt.ErrorSummary))
	}
	return nil
}

// finished reports whether a limit or a budget lets nothing more start, whatever tasks are ready. The caller holds Mu.
func (m *Limits) finished() bool { return m.Stopped.Reason != "" || m.Exhausted() }

// CutShort reports whether a limit or the caller ends the run early.
func (m *Limits) CutShort() bool {
	m.state.Mu.Lock()
	defer m.state.Mu.Unlock()
	return m.Stopped.Reason != "" || m.state.Drained()
}

// ClosedEarly reports whether a limit or a budget has ended the run.
func (m *Limits) ClosedEarly() bool {
	m.state.Mu.Lock()
	defer m.state.Mu.Unlock()
	return m.Stopped.Reason != "" || m.ExhaustedBy != nil
}
