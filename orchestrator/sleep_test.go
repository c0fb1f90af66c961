package orchestrator

import (
	"slices"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
)

// A run in which the machine slept says so in its log, to whoever watches, and at its end.
func TestSleepIsTold(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: 2 * time.Hour, outcome: attempts.Success}}}
	var told []string
	o := Options{
		Policy: decide.Policy{
			Notify: func(u decide.Update) {
				if u.Kind == decide.Note {
					told = append(told, u.Text)
				}
			},
		},
	}
	clock := &dayClock{jumps: []jump{{90 * time.Minute, 3 * time.Hour}}}
	simulateUntil(t, "", scene{epic: threeInARow, o: o, script: script, clock: clock, sleeps: true}, func(s *simulated, _ *attempts.Store, err error) {
		nap := limits.Sleep{From: midnight.Add(90 * time.Minute), To: midnight.Add(270 * time.Minute)}
		if len(s.naps) != 1 || s.naps[0].From.Sub(nap.From).Abs() > limits.SleepInterval ||
			s.naps[0].To.Sub(s.naps[0].From) != 3*time.Hour || err != nil {
			t.Fatalf("got %v (%v), want %v", s.naps, err, nap)
		}
		if want := s.naps[0].String(); !slices.Contains(told, want) || !slices.Contains(recorded(t, s.dir), "sleep: "+want) {
			t.Errorf("told %q, recorded %q", told, recorded(t, s.dir))
		}
	})
}
