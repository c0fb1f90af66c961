package decide

import (
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
)

// A gate says what was spent, and of what.
func TestWordsForGates(t *testing.T) {
	t.Parallel()
	c := &Judge{state: &State{O: &Settings{Options: &engine.Options{}}, Now: time.Now}}
	a := engine.Attempt{Task: epic.Task{ID: "T1", BudgetUSD: 0.5, MaxAttempts: 9}}
	gate := c.gate(limits.Instant{}, attempts.TaskRecord{}, EndedAttempt{
		Attempt: a, Result: engine.Result{Usage: attempts.Usage{CostUSD: 0.75}},
		Ended: attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Agent, Charged: true},
	})
	if gate == nil || gate.Reason != attempts.BudgetExhausted || gate.Detail != "the task's budget is spent: 0.75 of 0.50 USD" {
		t.Errorf("got %+v", gate)
	}
}

// What began when the clock was wrong did not take less than no time.
func TestNoTimeIsNegative(t *testing.T) {
	t.Parallel()
	s := &State{Now: time.Now}
	if d := s.Since(time.Now().Add(87600 * time.Hour)); d != 0 {
		t.Errorf("an attempt that began in ten years took %s", d)
	}
	if d := s.Since(time.Now().Add(-time.Hour)); d < time.Hour {
		t.Errorf("an attempt that began an hour ago took %s", d)
	}
}
