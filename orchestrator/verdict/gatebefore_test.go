package verdict

import (
	"slices"
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

// On another base, gates that say only that attempts failed are lifted, for one attempt beyond the limit.
func TestReopens(t *testing.T) {
	t.Parallel()
	failed := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true, Base: "old", Receipt: attempts.Receipt{ErrorSummary: "no"}}
	other := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Environment, Base: "old"}
	nowhere := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true}
	waits := attempts.Attempt{Result: attempts.ResultFailure, Outcome: attempts.Environment, Base: "old", Head: "a", Receipt: attempts.Receipt{Salvage: "b", Review: &attempts.Reviewed{Missing: []attempts.Missing{{}}}}}
	refused := func(cause Cause, summary, path string) []attempts.Attempt {
		held := other
		held.Cause, held.Receipt = string(cause), attempts.Receipt{ErrorSummary: summary, Refused: []string{"~/.now"}}
		held.Receipt.Checks = []attempts.CheckRun{{Refused: []string{"~/.now"}}, {Refused: []string{path}}}
		return []attempts.Attempt{held}
	}
	one, two, three := []attempts.Attempt{failed}, []attempts.Attempt{failed, failed}, []attempts.Attempt{failed, failed, failed}
	for name, c := range map[string]struct {
		gate  attempts.Reason // "": none
		past  []attempts.Attempt
		tip   string
		most  int
		spent string
		want  bool
	}{
		"all attempts used":           {attempts.MaxAttempts, two, "new", 2, "", true},
		"the same error twice":        {attempts.RepeatedFailure, two, "new", 3, "", true},
		"not the agent's fault":       {attempts.Infrastructure, []attempts.Attempt{other, other, other}, "new", 3, "", true},
		"allowed now":                 {attempts.Infrastructure, refused(causeRefused, "why", "~/.now"), "old", 3, "", true},
		"allowed, and not the base":   {attempts.Infrastructure, refused(causeRefused, "why", "~/.now"), "", 3, "", true},
		"refused still":               {attempts.Infrastructure, refused(causeRefused, "why", "~/.still"), "old", 3, "", false},
		"what it lacked may be there": {attempts.Infrastructure, refused(causeCannotRun, "why", "~/.now"), "old", 3, "", true},
		"it lacked something, later":  {attempts.Infrastructure, slices.Repeat(refused(causeCannotRun, "why", "~/.now"), 12), "old", 3, "", true},
		"gated for something else":    {attempts.Infrastructure, refused("set-up failed", "why", "~/.now"), "old", 3, "", false},
		"no runner is left":           {attempts.Infrastructure, refused(causeRefused, "another", "~/.now"), "old", 3, "", false},
		"charged for a refusal":       {attempts.MaxAttempts, refused("failed check", "why", "~/.now"), "old", 3, "", false},
		"on the same base":            {attempts.MaxAttempts, two, "old", 2, "", false},
		"the tip is not known":        {attempts.MaxAttempts, two, "", 2, "", false},
		"the base was not recorded":   {attempts.MaxAttempts, []attempts.Attempt{nowhere, nowhere}, "new", 2, "", false},
		"one beyond the limit":        {attempts.MaxAttempts, three, "new", 2, "", false},
		"the limit is one":            {attempts.MaxAttempts, one, "new", 1, "", false},
		"the budget is spent":         {attempts.MaxAttempts, two, "new", 2, "5 USD", false},
		"waits for review":            {attempts.Infrastructure, []attempts.Attempt{waits}, "new", 3, "", false},
		"a person":                    {attempts.UserBlocked, two, "new", 3, "", false},
		"tampered":                    {attempts.TamperedWith, two, "new", 3, "", false},
		"a reviewer":                  {attempts.QualityGateBlocked, two, "new", 3, "", false},
		"a budget":                    {attempts.BudgetExhausted, two, "new", 3, "", false},
		"no attempt":                  {attempts.MaxAttempts, nil, "new", 3, "", false},
		"not gated":                   {"", two, "new", 3, "", false},
	} {
		rec := attempts.TaskRecord{Attempts: c.past}
		if c.gate != "" {
			rec.Gate = &attempts.Gate{Reason: c.gate, Detail: "why"}
		}
		got := Reopens(rec, c.tip, func(refused []string) bool { return refused[0] == "~/.now" }) != "" && GateBefore(rec, Limits{MaxAttempts: c.most}, c.spent, false) == nil
		if got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
