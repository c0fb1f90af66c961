package orchestrator

import (
	"testing"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
)

// A gate says what was spent, and of what.
func TestWordsForGates(t *testing.T) {
	t.Parallel()
	c := &recorder{state: &state{o: &Options{}, now: time.Now}}
	a := engine.Attempt{Task: epic.Task{ID: "T1", BudgetUSD: 0.5, MaxAttempts: 9}}
	gate := c.gate(a, attempts.TaskRecord{}, engine.Result{Usage: attempts.Usage{CostUSD: 0.75}}, attempts.Ended{
		Result: attempts.ResultFailure, Outcome: attempts.Agent, Charged: true,
	})
	if gate == nil || gate.Reason != attempts.BudgetExhausted || gate.Detail != "the task's budget is spent: 0.75 of 0.50 USD" {
		t.Errorf("got %+v", gate)
	}
}
