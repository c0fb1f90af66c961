package orchestrator

import (
	"strings"
	"testing"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// A task whose check cannot run waits until nothing else is left to do, is asked once more, and only then gated; nobody is
// charged, and the breaker does not hear of it.
func TestHeldTasksComeLast(t *testing.T) {
	t.Parallel()
	held := step{outcome: attempts.Environment, why: "unit cannot run", held: true}
	for name, c := range map[string]struct {
		script    map[string][]step
		want      string
		completed int
	}{
		"it stays so":     {map[string][]step{"A": {held, held}}, "A claude 0s, X claude 0s, A claude 1m0s", 1},
		"mended by X":     {map[string][]step{"A": {held}}, "A claude 0s, X claude 0s, A claude 1m0s, B claude 2m0s, C claude 3m0s", 4},
		"several of them": {map[string][]step{"A": {held, held}, "X": {held, held}}, "A claude 0s, A claude 0s, X claude 0s, X claude 0s", 0},
	} {
		simulate(t, threeInARow, Options{
			LocalOptions: engine.LocalOptions{
				Options: engine.Options{
					Limits: engine.Limits{RunLimits: attempts.RunLimits{FailedInARow: 1, SameError: 1, MaxUnchargedRun: 1}},
				},
			},
		}, c.script, func(s *simulated, store *attempts.Store, err error) {
			if got := strings.Join(s.log, ", "); err != nil || got != c.want || s.halted != (decide.StopReason{}) || store.Counts()[attempts.Completed] != c.completed {
				t.Errorf("%s: got %s (%v), %+v, want %s", name, got, err, s.halted, c.want)
			}
			gate := store.Task("A").Gate
			if gated := c.completed < 4; gated != (gate != nil && gate.Reason == attempts.Infrastructure && gate.Detail == "unit cannot run") {
				t.Errorf("%s: gate %+v", name, gate)
			}
		})
	}
}
