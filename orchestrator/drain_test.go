package orchestrator

import (
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// A run that is drained starts nothing more: what runs comes to its end and is judged as ever, waiting is over, and
// nothing is said of the tasks that are left.
func TestDrain(t *testing.T) {
	t.Parallel()
	limit := step{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}
	for name, c := range map[string]struct {
		jobs    int
		after   time.Duration
		script  map[string][]step
		want    string
		elapsed time.Duration
	}{
		"in the middle of an attempt": {jobs: 1, after: 90 * time.Second, want: "A claude 0s, B claude 1m0s", elapsed: 2 * time.Minute},
		"of two, and one waits for nothing": {
			jobs: 2, after: 61 * time.Second, script: map[string][]step{"X": {{takes: 5 * time.Minute, outcome: attempts.Success}}},
			want: "A claude 0s, X claude 0s, B claude 1m0s", elapsed: 5 * time.Minute,
		},
		"while a runner cools down": {jobs: 2, after: time.Hour, script: map[string][]step{"A": {limit}, "X": {limit}}, want: "A claude 0s, X claude 0s", elapsed: time.Hour},
		"a failure is charged":      {jobs: 1, after: time.Second, script: map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Agent, why: "no"}}}, want: "A claude 0s", elapsed: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			o := Options{
				LocalOptions: engine.LocalOptions{
					Options: engine.Options{
						Jobs: c.jobs,
					},
				},
				Policy: decide.Policy{
					Notify: func(u decide.Update) {
						if u.Kind == decide.Note {
							told = append(told, u.Text)
						}
					},
				},
			}
			simulateUntil(t, "", scene{epic: threeInARow, o: o, script: c.script, drain: c.after}, func(s *simulated, store *attempts.Store, err error) {
				if got := strings.Join(s.log, ", "); err != nil || got != c.want {
					t.Errorf("got %s (%v), want %s", got, err, c.want)
				}
				if got := time.Since(s.start); got != c.elapsed {
					t.Errorf("it ended after %s, want %s", got, c.elapsed)
				}
				if len(told) > 0 {
					t.Errorf("it tells of %q", told)
				}
				if got := store.Task("A").Charges(); (got > 0) != (name == "a failure is charged") {
					t.Errorf("A is charged %d times", got)
				}
			})
		})
	}
}
