package limits

import (
	"time"
)

// Sleep is a time in which the machine slept, by the wall clock, to within a minute.
type Sleep struct{ From, To time.Time }

// SleepInterval is how often a detector is asked, and how long a period lasts at least. Timers stand still while the machine sleeps,
// so a period is noticed a minute after its end.
const SleepInterval = time.Minute

// SleepDetector compares a clock that goes on while the machine sleeps with the run's, which does not.
type SleepDetector struct {
	up     func() time.Duration
	seen   Instant
	seenUp time.Duration
}

// NewSleepDetector returns a detector that begins now; up is the clock that goes on.
func NewSleepDetector(up func() time.Duration, now Instant) *SleepDetector {
	return &SleepDetector{up: up, seen: now, seenUp: up()}
}

// Detect returns the period in which the machine slept since the last call, if it did.
func (d *SleepDetector) Detect(now Instant) (period Sleep, slept bool) {
	up := d.up()
	length := (up - d.seenUp) - (now.Run - d.seen.Run)
	from := d.seen.Day
	d.seen, d.seenUp = now, up
	return Sleep{from, from.Add(length)}, length >= SleepInterval
}

// String returns the period in local time.
func (p Sleep) String() string {
	const day, minute = "2 January 15:04", "15:04"
	from, to := p.From.Local(), p.To.Local()
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		return "the machine slept from " + from.Format(minute) + " to " + to.Format(minute)
	}
	return "the machine slept from " + from.Format(day) + " to " + to.Format(day)
}
