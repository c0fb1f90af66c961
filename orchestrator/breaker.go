package orchestrator

import (
	"relay/attempts"
	"relay/orchestrator/breaker"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
)

// tripped returns what to wait for while the breaker keeps a task from starting. A pause beyond the deadline ends the run.
// The caller holds mu.
func (n *run) tripped(now clock.Instant) (*waiting, error) {
	b := &n.breaker
	probe, probing := b.Probe()
	ok, rest := b.Admits(now, probing && n.plan.IsRunning(probe))
	if ok || n.plan.CountReady() == 0 {
		return nil, nil
	}
	if rest == 0 {
		return &waiting{changed: n.changed}, nil
	}
	if n.plan.CountRunning() == 0 && n.pointless(b.OpenUntil(), now) {
		return nil, n.stop(CircuitBreaker, b.Reason())
	}
	err := n.tellWaiting(UpdatePaused, attempts.Waiting{Until: b.OpenUntil().Day.UTC(), For: "another try", Why: b.Reason()})
	return &waiting{changed: n.changed, rest: rest}, err
}

// goOn tells the breaker that a task is completed. The caller holds mu.
func (n *run) goOn(a engine.Attempt) error {
	if !n.breaker.Complete() {
		return nil
	}
	note := &attempts.Note{Kind: "limit", Text: a.Task.ID + " was completed: the run goes on"}
	n.tell(Update{Kind: UpdateNote, Text: note.Text})
	return n.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}

// judgeFailure tells the breaker how an attempt failed. The caller holds mu.
func (n *run) judgeFailure(index int, a engine.Attempt, e attempts.Ended) error {
	b := &n.breaker
	b.Fail(breaker.Failure{Task: index, ID: a.Task.ID, Gated: e.Gate != nil, Cause: attempts.Cause(e.Receipt), Message: e.Receipt.ErrorSummary}, n.instant())
	if !b.Exhausted() {
		return nil
	}
	return n.stop(CircuitBreaker, b.ExhaustedReason())
}

// excused reports whether an attempt failed only for what has opened the breaker.
func (n *run) excused(a engine.Attempt, e attempts.Ended) bool {
	index, ok := n.o.Graph.Index(a.Task.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	return ok && n.breaker.Excuses(index, attempts.Cause(e.Receipt))
}
