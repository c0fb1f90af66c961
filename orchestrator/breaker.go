package orchestrator

import (
	"relay/attempts"
	"relay/orchestrator/breaker"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
)

// tripped returns what to wait for while the breaker keeps a task from starting. A pause beyond the deadline ends the run.
// The caller holds mu.
func (r *run) waitForBreaker(now clock.Instant) (*waiting, error) {
	b := &r.breaker
	probe, probing := b.Probe()
	ok, rest := b.Admits(now, probing && r.plan.IsRunning(probe))
	if ok || r.plan.CountReady() == 0 {
		return nil, nil
	}
	if rest == 0 {
		return &waiting{changed: r.changed}, nil
	}
	if r.plan.CountRunning() == 0 && r.pointless(b.OpenUntil(), now) {
		return nil, r.stop(CircuitBreaker, b.Reason())
	}
	err := r.tellWaiting(UpdatePaused, attempts.Waiting{Until: b.OpenUntil().Day.UTC(), For: "another try", Why: b.Reason()})
	return &waiting{changed: r.changed, rest: rest}, err
}

// goOn tells the breaker that a task is completed. The caller holds mu.
func (r *run) breakerCompleted(a engine.Attempt) error {
	if !r.breaker.Complete() {
		return nil
	}
	note := &attempts.Note{Kind: "limit", Text: a.Task.ID + " was completed: the run goes on"}
	r.tell(Update{Kind: UpdateNote, Text: note.Text})
	return r.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}

// judgeFailure tells the breaker how an attempt failed. The caller holds mu.
func (r *run) judgeFailure(index int, a engine.Attempt, e attempts.Ended) error {
	b := &r.breaker
	b.Fail(breaker.Failure{Task: index, ID: a.Task.ID, Gated: e.Gate != nil, Cause: attempts.Cause(e.Receipt), Message: e.Receipt.ErrorSummary}, r.instant())
	if !b.Exhausted() {
		return nil
	}
	return r.stop(CircuitBreaker, b.ExhaustedReason())
}

// excused reports whether an attempt failed only for what has opened the breaker.
func (r *run) excused(a engine.Attempt, e attempts.Ended) bool {
	index, ok := r.o.Graph.Index(a.Task.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	return ok && r.breaker.Excuses(index, attempts.Cause(e.Receipt))
}
