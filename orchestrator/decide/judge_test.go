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
