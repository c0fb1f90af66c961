package orchestrator

import (
	"context"
	"sync"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// Suspend is a time in which the machine slept. Both ends are told by the day's clock, to within a minute.
type Suspend struct{ From, To time.Time }

// Naps are looked for so often, and are at least so long: timers stand still while the machine sleeps, so that one is
// noticed a minute after its end.
const suspendInterval = time.Minute

// suspendDetector notices naps: the time by a clock that goes on in sleep grows by more than the run's.
type suspendDetector struct {
	up     func() time.Duration
	seen   clock.Instant
	seenUp time.Duration
}

func newSuspendDetector(up func() time.Duration, now clock.Instant) *suspendDetector {
	return &suspendDetector{up: up, seen: now, seenUp: up()}
}

// detect returns the nap since the last look, if there was one.
func (d *suspendDetector) detect(now clock.Instant) (nap Suspend, slept bool) {
	up := d.up()
	length := (up - d.seenUp) - (now.Run - d.seen.Run)
	from := d.seen.Day
	d.seen, d.seenUp = now, up
	return Suspend{from, from.Add(length)}, length >= suspendInterval
}

// watchSleep notes what the machine sleeps during the run, until over is called.
func (r *run) watchSleep(ctx context.Context) (over func()) {
	ctx, cancel := context.WithCancel(ctx)
	d := newSuspendDetector(r.up, r.instant())
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

// slept records and tells a nap.
func (r *run) slept(d *suspendDetector) {
	r.mu.Lock()
	defer r.mu.Unlock()
	nap, yes := d.detect(r.instant())
	if !yes {
		return
	}
	r.tally.Suspends = append(r.tally.Suspends, nap)
	note := &attempts.Note{Kind: "sleep", Text: nap.String()}
	r.tell(Update{Kind: UpdateNote, Text: note.Text})
	// What the log has of it matters to nobody's decision; a ledger that failed says so where it does.
	_ = r.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}

// String tells a person, in their own time.
func (n Suspend) String() string {
	const day, minute = "2 January 15:04", "15:04"
	from, to := n.From.Local(), n.To.Local()
	if from.YearDay() == to.YearDay() && from.Year() == to.Year() {
		return "the machine slept from " + from.Format(minute) + " to " + to.Format(minute)
	}
	return "the machine slept from " + from.Format(day) + " to " + to.Format(day)
}
