package decide

import (
	"relay/attempts"
	"relay/orchestrator/breaker"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/updates"
)

// waitForBreaker returns what to wait for while the circuit breaker keeps a task from starting, or nil. It stops the run if the
// pause would outlast the deadline. The caller holds Mu.
func (m *Limits) waitForBreaker(now clock.Instant) (*Waiting, error) {
	b := &m.breaker
	probe, probing := b.Probe()
	ok, rest := b.Admits(now, probing && m.state.Plan.IsRunning(probe))
	if ok || m.state.Plan.CountReady() == 0 {
		return nil, nil
	}
	if rest == 0 {
		return &Waiting{Changed: m.state.Changed}, nil
	}
	if m.state.Plan.CountRunning() == 0 && m.pointless(b.OpenUntil(), now) {
		return nil, m.stop(now, ending.CircuitBreaker, b.Reason())
	}
	what := attempts.Waiting{Until: b.OpenUntil().Day.UTC(), For: "another try", Why: b.Reason()}
	err := m.waiter.notifyWaiting(now, updates.Paused, "", what)
	return &Waiting{Changed: m.state.Changed, Rest: rest}, err
}

// breakerCompleted tells the circuit breaker that a task is completed, and records it if that closes the breaker. The caller
// holds Mu.
func (m *Limits) breakerCompleted(a engine.Attempt) error {
	if !m.breaker.Complete() {
		return nil
	}
	note := &attempts.Note{Kind: "limit", Text: a.Task.ID + " was completed: the run goes on"}
	m.state.Notify(updates.Update{Kind: updates.Note, Text: note.Text})
	return m.state.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}

// judgeFailure tells the circuit breaker how an attempt failed, and stops the run if the breaker is exhausted. The caller holds
// mu.
func (m *Limits) judgeFailure(now clock.Instant, index int, a engine.Attempt, e attempts.Ended) error {
	b := &m.breaker
	f := breaker.Failure{Task: index, ID: a.Task.ID, Gated: e.Gate != nil, Cause: attempts.Cause(e.Receipt), Message: e.Receipt.ErrorSummary}
	b.Fail(f, now)
	if !b.Exhausted() {
		return nil
	}
	return m.stop(now, ending.CircuitBreaker, b.ExhaustedReason())
}

// excused reports whether an attempt failed only for the cause that has opened the circuit breaker. The caller holds Mu.
func (m *Limits) excused(a engine.Attempt, e attempts.Ended) bool {
	index, ok := m.state.O.Graph.Index(a.Task.ID)
	return ok && m.breaker.Excuses(index, attempts.Cause(e.Receipt))
}
