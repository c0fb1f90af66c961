package orchestrator

import "time"

// moment is an instant as two clocks tell it. The day's is what providers and people mean by a time: it is set forward
// and back, and goes on while the machine sleeps. The run's only ever goes forward, and stands while the machine sleeps.
type moment struct {
	day time.Time
	run time.Duration // since the run began
}

// stopwatch is the run's clock.
func stopwatch() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

// opening is when a runner may be asked again. A back-off is a duration, which the run's clock alone tells. What a
// provider names is a time of day: it has come when the day's clock says so, whatever the machine slept; and when it
// was to be waited for so long, should the day's clock have been set back.
type opening struct {
	day   time.Time // as told to people
	run   time.Duration
	named bool // by the provider: day counts too
}

// after is the opening at the end of a back-off that begins now.
func (m moment) after(wait time.Duration) opening {
	return opening{day: m.day.Add(wait), run: m.run + wait}
}

// rest is how long the opening is off; not more than 0 when it has come.
func (o opening) rest(now moment) time.Duration {
	rest := o.run - now.run
	if o.named {
		rest = min(rest, o.day.Sub(now.day))
	}
	return rest
}
