package attempts

import "testing"

// A lower limit gates what has had that many attempts, but not work that only waits for its review.
func TestGateBefore(t *testing.T) {
	t.Parallel()
	failed := Attempt{Result: ResultFailure, Outcome: Check, Charged: true, Receipt: Receipt{ErrorSummary: "no"}}
	stopped := Attempt{Result: ResultInterrupted, Outcome: Stopped}
	waits := Attempt{Result: ResultFailure, Outcome: Environment, Head: "a", Receipt: Receipt{Salvage: "b", Review: &Reviewed{Missing: []Missing{{}}}}}
	for name, c := range map[string]struct {
		rec  TaskRecord
		most int
		want string
	}{
		"nothing yet":      {TaskRecord{}, 1, ""},
		"one left":         {TaskRecord{Attempts: []Attempt{failed}}, 2, ""},
		"none left":        {TaskRecord{Attempts: []Attempt{failed, stopped}}, 1, "1 of 1 attempts failed; the last: no"},
		"more than that":   {TaskRecord{Attempts: []Attempt{failed, failed}}, 1, "2 of 1 attempts failed; the last: no"},
		"by default":       {TaskRecord{Attempts: []Attempt{failed, failed, failed}}, 0, "3 of 3 attempts failed; the last: no"},
		"ungated":          {TaskRecord{Attempts: []Attempt{failed}, CountFrom: 1}, 1, ""},
		"waits for review": {TaskRecord{Attempts: []Attempt{failed, waits}}, 1, ""},
	} {
		got := ""
		if gate := GateBefore(c.rec, Limits{MaxAttempts: c.most}); gate != nil {
			got = gate.Detail
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
