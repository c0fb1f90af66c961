package terminal

import (
	"testing"

	"relay/orchestrator/decide"
	"relay/orchestrator/report"
)

// Whatever ends a run early, it says so, and what to do.
func TestLimitsSayWhatToDo(t *testing.T) {
	t.Parallel()
	for reason, want := range map[decide.EndReason]struct {
		code       int
		head, next string
	}{
		decide.Deadline: {
			4, "stopped at its deadline; nothing is lost, relay work continues",
			"relay work continues from here; --until and relay.until set the deadline",
		},
		decide.CircuitBreaker: {
			3, "stopped early; nothing is lost",
			"see relay show TASK for one of them, fix what they have in common, then relay work; relay.max_failed_in_a_row and relay.max_same_error are the limits",
		},
		decide.UnchargedRetries: {
			3, "stopped early; nothing is lost",
			"relay ledger log lists them; relay work continues, relay.max_uncharged_run is the limit",
		},
		decide.Failed: {3, "ended by an error; nothing recorded is lost", ""},
		decide.DiskFloor: {
			1, "stopped early; nothing is lost",
			"make room, then relay work; relay.disk_floor_mib is the limit",
		},
		decide.MemoryFloor: {
			1, "stopped early; nothing is lost",
			"end what else runs here, then relay work; relay.memory_floor_mib is the limit",
		},
	} {
		s := decide.Summary{Reason: reason, Why: "x", Left: 2}
		code, head, next := CodeOfRun(s, nil, nil), report.Headline(s.Reason, s.Left), report.Next(reason)
		if code != want.code || head != want.head || next != want.next {
			t.Errorf("%s: got %d, %q, %q; want %+v", reason, code, head, next, want)
		}
	}
}
