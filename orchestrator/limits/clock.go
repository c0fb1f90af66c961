package limits

import "time"

// Instant is an instant as two clocks tell it. The day's is what providers and people mean by a time: it is set forward
// and back, and goes on while the machine sleeps. The run's only ever goes forward, and stands while the machine sleeps.
type Instant struct {
	Day time.Time
	Run time.Duration // since the run began
}

// Deadline is when something may happen again, or ends. A back-off is a duration, which the run's clock alone tells. What
// a provider names is a time of day: it has come when the day's clock says so, whatever the machine slept; and when it
// was to be waited for so long, should the day's clock have been set back.
type Deadline struct {
	Day   time.Time // as told to people
	Run   time.Duration
	Named bool // by the provider or a person: Day counts too
}

// After returns the deadline at the end of a wait that begins now.
func (m Instant) After(wait time.Duration) Deadline {
	return Deadline{Day: m.Day.Add(wait), Run: m.Run + wait}
}

// Rest returns how long the deadline is off; not more than 0 when it has come.
func (d Deadline) Rest(now Instant) time.Duration {
	rest := d.Run - now.Run
	if d.Named {
		rest = min(rest, d.Day.Sub(now.Day))
	}
	return rest
}
