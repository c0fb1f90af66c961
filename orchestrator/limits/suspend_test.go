package limits

import (
	"testing"
	"time"
)

func TestDetect(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 2, 9, 30, 0, time.UTC)
	for name, c := range map[string]struct {
		day, run, up time.Duration // since the last look
		slept        time.Duration // 0: it did not
	}{
		"awake":                  {day: time.Minute, run: time.Minute, up: time.Minute},
		"asleep":                 {day: 210 * time.Minute, run: time.Minute, up: 210 * time.Minute, slept: 209 * time.Minute},
		"asleep for a moment":    {day: 100 * time.Second, run: time.Minute, up: 100 * time.Second},
		"the clock set forward":  {day: 8 * time.Hour, run: time.Minute, up: time.Minute},
		"asleep, the clock back": {day: -time.Hour, run: time.Minute, up: 2 * time.Hour, slept: 119 * time.Minute},
		"relay was stopped":      {day: time.Hour, run: time.Hour, up: time.Hour},
	} {
		up := time.Hour
		d := NewSleepDetector(func() time.Duration { return up }, Instant{Day: began})
		up += c.up
		nap, slept := d.Detect(Instant{Day: began.Add(c.day), Run: c.run})
		if slept != (c.slept > 0) || slept && (nap != Sleep{began, began.Add(c.slept)}) {
			t.Errorf("%s: got %v, %v", name, nap, slept)
		}
		if nap, again := d.Detect(Instant{Day: began.Add(c.day), Run: c.run}); again {
			t.Errorf("%s is told again: %v", name, nap)
		}
	}
}

func TestString(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 11, 22, 2, 10, 0, 0, time.Local)
	for to, want := range map[time.Time]string{
		from.Add(210 * time.Minute): "the machine slept from 02:10 to 05:40",
		from.Add(24 * time.Hour):    "the machine slept from 22 November 02:10 to 23 November 02:10",
	} {
		if got := (Sleep{from, to}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
