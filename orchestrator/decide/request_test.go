package decide

import (
	"testing"

	"relay/attempts"
)

// A person's gate takes the place of one that relay may lift.
func TestInPlaceOf(t *testing.T) {
	t.Parallel()
	failed := attempts.Attempt{Result: attempts.ResultFailure}
	waits := failed
	waits.Head, waits.Receipt = "a", attempts.Receipt{Salvage: "b", Review: &attempts.Reviewed{Missing: []attempts.Missing{{}}}}
	waits.Outcome = attempts.Environment
	for name, c := range map[string]struct {
		reason attempts.Reason
		last   attempts.Attempt
		want   string
	}{
		"relay's":               {attempts.Infrastructure, failed, " by you, no longer by relay: not the agent's failure"},
		"a person's":            {attempts.UserBlocked, failed, ""},
		"a question":            {attempts.AwaitsAnswer, failed, ""},
		"work waits for review": {attempts.Infrastructure, waits, ""},
	} {
		rec := attempts.TaskRecord{Gate: &attempts.Gate{Reason: c.reason}, Attempts: []attempts.Attempt{c.last}}
		if got := InPlaceOf(&rec); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
