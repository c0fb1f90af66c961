package orchestrator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// A night goes on after failures that have nothing in common, and after a pause when what they had in common has passed.
// One in which everything fails for one reason ends, and has paid for few attempts.
func TestNightsWithFailures(t *testing.T) {
	t.Parallel()
	fails := func(n int, why string) []step {
		var steps []step
		for range n {
			steps = append(steps, failing(why))
		}
		return steps
	}
	all := func(n int, why string) map[string][]step {
		script := map[string][]step{}
		for i := range 100 {
			script[fmt.Sprintf("T%d", i+1)] = fails(n, why)
		}
		return script
	}
	own := map[string][]step{}
	for i := range 8 {
		id := fmt.Sprintf("T%d", i+1)
		own[id] = fails(1, fmt.Sprintf("test_%d: expected %d, got %d", i, 3*i, 44-i))
	}
	nothing := map[string][]step{}
	for i := range 8 {
		nothing[fmt.Sprintf("T%d", i+1)] = fails(2, "exit status 1")
	}
	hour := all(0, "") // what they need is away for the first hour
	for i := range 3 {
		hour[fmt.Sprintf("T%d", i+1)] = fails(3, "connection refused")
	}
	hour["T4"], hour["T5"] = fails(2, "connection refused"), fails(2, "connection refused") // T5 is what is tried after each pause
	for name, c := range map[string]struct {
		script      map[string][]step
		jobs, tasks int
		until       time.Duration
		most        int // attempts
		completed   int
		want        string // why it ended early
	}{
		"eight first failures of their own": {script: own, jobs: 6, tasks: 8, most: 16, completed: 8},
		"nothing was printed":               {script: nothing, jobs: 3, tasks: 4, most: 12, completed: 4},
		"a bad hour":                        {script: hour, jobs: 1, tasks: 12, most: 18, completed: 8},
		"everything fails":                  {script: all(9, "no space left on device"), jobs: 1, tasks: 100, most: 9, want: "T1, T2, T3, T4, T5, T6 failed with the same error, so the tasks are probably not the cause: no space left on device; 3 pauses, the last of 1h0m0s, have not changed that"},
		"everything, side by side":          {script: all(9, "no space left on device"), jobs: 6, tasks: 100, most: 18, want: "the tasks are probably not the cause"},
		"no hour left":                      {script: all(9, "no space left on device"), jobs: 1, tasks: 100, until: 10 * time.Minute, most: 6, want: "T1, T2, T3, T4, T5, T6 failed with the same error, so the tasks are probably not the cause: no space left on device"},
	} {
		o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{
			Jobs: c.jobs, Limits: engine.Limits{RunLimits: attempts.RunLimits{FailedInARow: 5, SameError: 3}},
		}}}
		if c.until > 0 {
			o.Until = midnight.Add(c.until)
		}
		simulate(t, sideBySide(c.tasks), o, c.script, func(s *simulated, store *attempts.Store, err error) {
			completed := store.Counts()[attempts.Completed]
			if err != nil || len(s.log) > c.most || completed != c.completed {
				t.Errorf("%s: %d attempts, %d completed (%v); want at most %d, and %d", name, len(s.log), completed, err, c.most, c.completed)
			}
			if c.want == "" && s.halted != (decide.StopReason{}) || c.want != "" && (s.halted.Reason != decide.CircuitBreaker || !strings.Contains(s.halted.Why, c.want)) {
				t.Errorf("%s: it ended with %+v, want %q", name, s.halted, c.want)
			}
		})
	}
}
