package verdict

import (
	"testing"

	"relay/attempts"
)

// A lower limit gates what has had that many attempts, but not work that only waits for its review.
func TestGateBefore(t *testing.T) {
	t.Parallel()
	failed := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Receipt: attempts.Receipt{ErrorSummary: "no"}}
	stopped := attempts.Attempt{Result: attempts.ResultInterrupted, Outcome: attempts.Stopped}
	waits := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Environment, Head: "a", Receipt: attempts.Receipt{Salvage: "b", Review: &attempts.Reviewed{Missing: []attempts.Missing{{}}}}}
	for name, c := range map[string]struct {
		rec  attempts.TaskRecord
		most int
		want string
	}{
		"nothing yet":      {attempts.TaskRecord{}, 1, ""},
		"one left":         {attempts.TaskRecord{Attempts: []attempts.Attempt{failed}}, 2, ""},
		"none left":        {attempts.TaskRecord{Attempts: []attempts.Attempt{failed, stopped}}, 1, "1 of 1 attempts failed; the last: no"},
		"more than that":   {attempts.TaskRecord{Attempts: []attempts.Attempt{failed, failed}}, 1, "2 of 1 attempts failed; the last: no"},
		"by default":       {attempts.TaskRecord{Attempts: []attempts.Attempt{failed, failed, failed}}, 0, "3 of 3 attempts failed; the last: no"},
		"ungated":          {attempts.TaskRecord{Attempts: []attempts.Attempt{failed}, CountFrom: 1}, 1, ""},
		"waits for review": {attempts.TaskRecord{Attempts: []attempts.Attempt{failed, waits}}, 1, ""},
	} {
		got := ""
		if gate := GateBefore(c.rec, Limits{MaxAttempts: c.most}, "", true); gate != nil {
			got = gate.Detail
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
