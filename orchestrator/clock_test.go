package orchestrator

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// dayClock is a day's clock that somebody sets while the run's goes on: forward and back, for daylight saving, or
// because the machine slept, when the day goes on and the run's clock stands.
type dayClock struct {
	first time.Time // the day begins here; zero: as it is
	jumps []jump
	ahead atomic.Int64
	looks atomic.Int64
}

type jump struct{ at, by time.Duration }

func (c *dayClock) begin() {
	if !c.first.IsZero() {
		c.ahead.Store(int64(time.Until(c.first)))
	}
	for _, j := range c.jumps {
		time.AfterFunc(j.at, func() { c.ahead.Add(int64(j.by)) })
	}
}

// now knows nothing of the run's clock.
func (c *dayClock) now() time.Time {
	c.looks.Add(1)
	return time.Now().Add(time.Duration(c.ahead.Load())).Round(0)
}

const years = 365 * 24 * time.Hour

// Whatever becomes of the day's clock: a back-off takes its time and no more, a reset is waited for until it comes by
// either clock, an attempt took as long as it did, and nobody looks at the clock all the time.
func TestDayClockJumps(t *testing.T) {
	t.Parallel()
	backOff := step{takes: time.Minute, outcome: attempts.Provider, why: "overloaded"}
	limit := step{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}
	for name, c := range map[string]struct {
		first  step
		begins time.Time
		jumps  []jump
		want   time.Duration // when A is tried again
		late   time.Duration
	}{
		"back-off":                           {first: backOff, want: 90 * time.Second},
		"back-off, forward":                  {first: backOff, jumps: []jump{{70 * time.Second, 8 * time.Hour}}, want: 90 * time.Second},
		"back-off, forward a little":         {first: backOff, jumps: []jump{{70 * time.Second, 25 * time.Second}}, want: 90 * time.Second},
		"back-off, back":                     {first: backOff, jumps: []jump{{70 * time.Second, -10 * years}}, want: 90 * time.Second},
		"back-off, forward during the work":  {first: backOff, jumps: []jump{{30 * time.Second, 8 * time.Hour}}, want: 90 * time.Second},
		"back-off, to and fro":               {first: backOff, jumps: []jump{{65 * time.Second, 10 * years}, {75 * time.Second, -20 * years}}, want: 90 * time.Second},
		"limit":                              {first: limit, want: 5*time.Hour + time.Minute},
		"limit, asleep past it":              {first: limit, jumps: []jump{{2 * time.Hour, 8 * time.Hour}}, want: 2 * time.Hour, late: decide.LongestWait},
		"limit, asleep for a while":          {first: limit, jumps: []jump{{2 * time.Hour, time.Hour}}, want: 4*time.Hour + time.Minute, late: decide.LongestWait},
		"limit, back for years":              {first: limit, jumps: []jump{{2 * time.Hour, -10 * years}}, want: 5*time.Hour + time.Minute, late: decide.LongestWait},
		"limit, daylight saving told as UTC": {first: limit, jumps: []jump{{2 * time.Hour, -time.Hour}}, want: 5*time.Hour + time.Minute, late: decide.LongestWait},
		"limit, back while the agent worked": {first: limit, jumps: []jump{{30 * time.Second, -10 * years}}, want: 5*time.Hour + time.Minute},
		"limit, in 2030":                     {first: limit, begins: time.Date(2030, 12, 31, 22, 0, 0, 0, time.UTC), want: 5*time.Hour + time.Minute},
		"limit, over the end of 32 bits":     {first: limit, begins: time.Date(2038, 1, 19, 1, 0, 0, 0, time.UTC), want: 5*time.Hour + time.Minute},
		"back-off, in 1970":                  {first: backOff, begins: time.Unix(0, 0), want: 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &dayClock{first: c.begins, jumps: c.jumps}
			var took []time.Duration
			o := Options{
				LocalOptions: engine.LocalOptions{
					Options: engine.Options{
						Jobs: 3,
					},
				},
				Policy: decide.Policy{
					Notify: func(u decide.Update) {
						if u.Task != "X" && (u.Kind == decide.Retry || u.Kind == decide.Completed) {
							took = append(took, u.Elapsed)
						}
					},
				},
			}
			neighbour := step{takes: 80 * time.Second, outcome: attempts.Success} // at its end those who wait look again
			of := scene{epic: threeInARow, o: o, script: map[string][]step{"A": {c.first}, "X": {neighbour}}, clock: clock}
			simulateUntil(t, "", of, func(s *simulated, store *attempts.Store, err error) {
				if err != nil || store.Counts()[attempts.Completed] != 4 || len(s.at) != 5 {
					t.Fatalf("the night ended with %v: %v", err, s.log)
				}
				if again := s.at[2]; again.task != "A" || again.at < c.want || again.at > c.want+c.late {
					t.Errorf("A began again after %s, want %s and at most %s more: %s", again.at, c.want, c.late, strings.Join(s.log, ", "))
				}
				for _, d := range took {
					if d != time.Minute {
						t.Errorf("attempts of a minute took %v", took)
						break
					}
				}
				if looks, all := clock.looks.Load(), int64(time.Since(s.start)/decide.LongestWait); looks > 200+4*all {
					t.Errorf("the clock was looked at %d times", looks)
				}
			})
		})
	}
}

// What began when the clock was wrong did not take less than no time.
func TestNoTimeIsNegative(t *testing.T) {
	t.Parallel()
	s := &state{State: &decide.State{Now: time.Now}}
	if d := since(s, time.Now().Add(87600*time.Hour)); d != 0 {
		t.Errorf("an attempt that began in ten years took %s", d)
	}
	if d := since(s, time.Now().Add(-time.Hour)); d < time.Hour {
		t.Errorf("an attempt that began an hour ago took %s", d)
	}
}
