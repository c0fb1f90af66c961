package orchestrator

import (
	"context"
	"sync"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// Suspend is a time in which the machine slept, by the wall clock, to within a minute.
type Suspend struct{ From, To time.Time }

// suspendInterval is how often suspends are looked for, and how long they last at least. Timers stand still while the machine
// sleeps, so one is noticed a minute after its end.
const suspendInterval = time.Minute

// suspendDetector compares a clock that goes on while the machine sleeps with the run's, which does not.
type suspendDetector struct {
	up     func() time.Duration
	seen   clock.Instant
	seenUp time.Duration
}

func newSuspendDetector(up func() time.Duration, now clock.Instant) *suspendDetector {
	return &suspendDetector{up: up, seen: now, seenUp: up()}
}

// detect returns the time the machine slept since the last call, if it did.
func (d *suspendDetector) detect(now clock.Instant) (nap Suspend, slept bool) {
	up := d.up()
	length := (up - d.seenUp) - (now.Run - d.seen.Run)
	from := d.seen.Day
	d.seen, d.seenUp = now, up
	return Suspend{from, from.Add(length)}, length >= suspendInterval
}

// watchSleep records the times in which the machine sleeps during the run, until over is called.
func (r *run) watchSleep(ctx context.Context) (over func()) {
	ctx, cancel := context.WithCancel(ctx)
	d := newSuspendDetector(r.up, r.state.instant())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(suspendInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				r.slept(d)
				return
			case <-tick.C:
				r.slept(d)
			}
		}
	})
	return func() { cancel(); watch.Wait() }
}

// slept records and tells a suspend, if there was one.
func (r *run) slept(d *suspendDetector) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	nap, yes := d.detect(r.state.instant())
	if !yes {
		return
	}
	r.state.tally.Suspends = append(r.state.tally.Suspends, nap)
	note := &attempts.Note{Kind: "sleep", Text: nap.String()}
	r.state.notify(Update{Kind: UpdateNote, Text: note.Text})
	// What the log has of it matters to nobody's decision; a ledger that failed says so where it does.
	_ = r.state.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}

// String returns the suspend in local time.
func (n Suspend) String() string {
	const day, minute = "2 January 15:04", "15:04"
	from, to := n.From.Local(), n.To.Local()
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		return "the machine slept from " + from.Format(minute) + " to " + to.Format(minute)
	}
	return "the machine slept from " + from.Format(day) + " to " + to.Format(day)
}
