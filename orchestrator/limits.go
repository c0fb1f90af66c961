package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"relay/attempts"
	"relay/orchestrator/breaker"
	"relay/orchestrator/budget"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
)

// limits are the run's deadline, budget, circuit breaker and floors: they keep new attempts from starting, and stop those that
// are under way at the deadline or when a budget is exhausted. They are guarded by the lock of state.
type limits struct {
	state  *state
	waiter *waiter

	deadline  *clock.Deadline // nil: none
	stopped   stopReason      // its zero value: the run may go on
	breaker   breaker.Breaker
	uncharged int             // attempts that ended so in this run
	roomUntil *clock.Deadline // how long a machine that lacks room is still waited for; nil: it has room

	budget      *budget.Tracker
	stops       map[string]context.CancelCauseFunc // of the attempts that run, by task
	exhaustedBy *budget.ExhaustedError             // nothing more is started
	used        map[string]attempts.Usage          // what attempts under way have told to have used, by task
}

func newLimits(s *state, w *waiter, now clock.Instant) *limits {
	m := &limits{
		state: s, waiter: w, stops: make(map[string]context.CancelCauseFunc), used: make(map[string]attempts.Usage),
		breaker: breaker.New(breaker.Limits{SameError: s.o.Limits.SameError, InARow: s.o.Limits.FailedInARow, Pause: s.o.Limits.BackoffMax}),
	}
	s.store.View(func(l *attempts.Ledger) { m.budget = budget.New(s.o.Budget, s.o.Spent, l) })
	if !s.o.Until.IsZero() {
		m.deadline = &clock.Deadline{Day: s.o.Until, Run: now.Run + s.o.Until.Sub(now.Day), Named: true}
	}
	return m
}

// stopReason is why a run starts nothing more although tasks are left. Attempts under way come to their end, except at the
// deadline.
type stopReason struct {
	reason ending.Reason
	why    string // in words
}

// stop makes the run start nothing more, and records why; the first reason stays. The caller holds mu.
func (m *limits) stop(now clock.Instant, reason ending.Reason, why string) error {
	if m.stopped.reason != "" {
		return nil
	}
	m.stopped = stopReason{reason, why}
	m.state.step(now, attempts.Step{Kind: attempts.StepStopped, For: string(reason)})
	m.state.notify(Update{Kind: UpdateStopping, Text: why})
	m.state.announce()
	note := attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: "limit", Text: why}, Steps: m.state.takeSteps()}
	return m.state.store.AppendLater(note)
}

// errDeadline is the cause with which agents are cancelled at the deadline.
var errDeadline = errors.New("the run's deadline has come")

// untilDeadline returns a context that is cancelled at the run's deadline. The caller calls over when it is done with it.
func (m *limits) untilDeadline(ctx context.Context) (bounded context.Context, over func()) {
	if m.deadline == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			now := m.state.instant()
			rest := m.deadline.Rest(now)
			if rest <= 0 {
				m.expire()
				cancel(errDeadline)
				return
			}
			(&waiting{rest: rest}).wait(ctx, nil)
		}
	})
	return ctx, func() { cancel(nil); watch.Wait() }
}

// atDeadline reports whether an error only comes from being cancelled at the deadline.
func atDeadline(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), errDeadline) && (errors.Is(err, errDeadline) || errors.Is(err, context.Canceled))
}

// expire stops the run at its deadline.
func (m *limits) expire() {
	m.state.mu.Lock()
	err := m.stop(m.state.instant(), ending.Deadline, "the deadline has come: running attempts are asked to end, and their work is kept")
	m.state.mu.Unlock()
	if err != nil {
		m.state.fail(err)
	}
}

// pointless reports whether a wait would last beyond the run's deadline.
func (m *limits) pointless(at clock.Deadline, now clock.Instant) bool {
	return m.deadline != nil && at.Rest(now) >= m.deadline.Rest(now)
}

// checkLimits holds the end of an attempt against the circuit breaker. The caller holds mu.
func (m *limits) checkLimits(now clock.Instant, index int, a engine.Attempt, f engine.Result, e attempts.Ended) error {
	if e.Result == attempts.ResultSuccess {
		return m.breakerCompleted(a)
	}
	if f.Held { // nobody has done anything
		return nil
	}
	if failsTask(f, e) {
		return m.judgeFailure(now, index, a, e)
	}
	return nil
}

// countUncharged stops the run after too many attempts that ended through no fault of an agent. The caller holds mu.
func (m *limits) countUncharged(now clock.Instant, f engine.Result, e attempts.Ended, rule runnerRuling) error {
	uncounted := e.Result == attempts.ResultSuccess || e.Charged ||
		e.Outcome.Charged() || f.Outcome == attempts.Stopped || f.Outcome == attempts.Budget
	if uncounted || f.Held || rule.repeat {
		return nil
	}
	m.uncharged++
	if most := m.state.o.Limits.MaxUnchargedRun; most > 0 && m.uncharged >= most {
		return m.stop(now, ending.UnchargedRetries, fmt.Sprintf("%d attempts of this run ended through no fault of an agent; the last: %s", m.uncharged, e.Receipt.ErrorSummary))
	}
	return nil
}

// finished reports whether a limit or a budget lets nothing more start, whatever tasks are ready. The caller holds mu.
func (m *limits) finished() bool { return m.stopped.reason != "" || m.exhausted() }

// cutShort reports whether a limit or the caller ends the run early.
func (m *limits) cutShort() bool {
	m.state.mu.Lock()
	defer m.state.mu.Unlock()
	return m.stopped.reason != "" || m.state.drained()
}

// closedEarly reports whether a limit or a budget has ended the run.
func (m *limits) closedEarly() bool {
	m.state.mu.Lock()
	defer m.state.mu.Unlock()
	return m.stopped.reason != "" || m.exhaustedBy != nil
}
