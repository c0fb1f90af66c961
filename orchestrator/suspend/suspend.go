// Package suspend notices that the machine slept, from two clocks: one that goes on meanwhile, and one that does not.
package suspend

import (
	"time"

	"relay/orchestrator/clock"
)

// Period is a time in which the machine slept, by the wall clock, to within a minute.
type Period struct{ From, To time.Time }

// Interval is how often a detector is asked, and how long a period lasts at least. Timers stand still while the machine sleeps,
// so a period is noticed a minute after its end.
const Interval = time.Minute

// Detector compares a clock that goes on while the machine sleeps with the run's, which does not.
type Detector struct {
	up     func() time.Duration
	seen   clock.Instant
	seenUp time.Duration
}

// NewDetector returns a detector that begins now; up is the clock that goes on.
func NewDetector(up func() time.Duration, now clock.Instant) *Detector {
	return &Detector{up: up, seen: now, seenUp: up()}
}

// Detect returns the period in which the machine slept since the last call, if it did.
func (d *Detector) Detect(now clock.Instant) (period Period, slept bool) {
	up := d.up()
	length := (up - d.seenUp) - (now.Run - d.seen.Run)
	from := d.seen.Day
	d.seen, d.seenUp = now, up
	return Period{from, from.Add(length)}, length >= Interval
}

// String returns the period in local time.
func (p Period) String() string {
	const day, minute = "2 January 15:04", "15:04"
	from, to := p.From.Local(), p.To.Local()
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		return "the machine slept from " + from.Format(minute) + " to " + to.Format(minute)
	}
	return "the machine slept from " + from.Format(day) + " to " + to.Format(day)
}
