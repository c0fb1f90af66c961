package verdict_test

import (
	"fmt"

	"relay/attempts"
	"relay/orchestrator/verdict"
)

// The third charged attempt that fails gates its task.
func ExampleGateAfter() {
	failed := attempts.Ended{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true}
	rec := attempts.TaskRecord{}
	for n := 1; n <= 3; n++ {
		failed.Receipt.ErrorSummary = fmt.Sprintf("test number %c fails", 'a'+n)
		gate := verdict.GateAfter(rec, failed, verdict.Limits{MaxAttempts: 3})
		fmt.Println(n, gate != nil)
		rec.Attempts = append(rec.Attempts, attempts.Attempt{
			ID: n, Result: failed.Result, Outcome: failed.Outcome, Charged: true, Receipt: failed.Receipt,
		})
	}
	// Output:
	// 1 false
	// 2 false
	// 3 true
}
