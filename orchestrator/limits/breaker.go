// Package limits is what a run may still use: runners, money and time, the circuit breaker, and instants without the sleep of the
// machine.
//
// breaker.go pauses a run in which tasks fail one after another. It is pure.
//
// tracker.go compares what a run spends with its caps in money and tokens. It is pure.
//
// clock.go tells instants and deadlines by two clocks: the day's, which people and providers use, and the run's, which only goes forward.
//
// pool.go decides which runner may be asked now, by which task and by how many jobs at once, and whose fault a failure is: the runner's
// or the task's.
//
// It has no clock, no process and no disk: what it answers follows from the calls so far and the instants they name.
//
// suspend.go notices that the machine slept, from two clocks: one that goes on meanwhile, and one that does not.
package limits

import (
	"fmt"
	"strings"
	"time"
)

// Breaker is the circuit breaker of a run. It opens when several tasks have failed although they were tried again, or twice as many
// once with the same error, and none was completed in between: the cause may be one they share. Then nothing starts for a pause, and
// after it one attempt at a time until a task is completed, which closes the breaker, or has failed too, which opens it for twice as
// long. It reads no clock: the caller passes the time.
type Breaker struct {
	limits BreakerLimits

	state         state
	failed        []Failure // since a task was last completed, each task once
	why           string    // it opened, in words
	cause         string    // the error it opened for; "": the tasks had different ones
	opens         Deadline  // when it is open: the end of the pause
	probe         int       // when it is half open: the task that was let through
	probeFailures int       // attempts that have failed since it was half open
	failedProbes  int       // how often that has ended with a failure
}

// BreakerLimits say when a breaker opens, and for how long.
type BreakerLimits struct {
	SameError int           // so many tasks that failed with the same error; 0: no limit
	InARow    int           // so many tasks that failed with any errors; 0: no limit
	Pause     time.Duration // the first pause; each further one is twice as long
}

// NewBreaker returns a closed breaker.
func NewBreaker(l BreakerLimits) Breaker { return Breaker{limits: l} }

type state uint8

const (
	closed state = iota
	open
	halfOpen
)

// mostProbes is how many pauses a run makes before it ends, and triesOfProbe how many attempts may fail after each: the
// first failure of a task says little.
const (
	maxProbes     = 3
	probeAttempts = 2
)

// Failure is a failed attempt at a task.
type Failure struct {
	Task    int
	ID      string
	tries   int
	Gated   bool
	Cause   string // of its last failure; "": not known
	Message string // the same, for people
}

// final reports whether the task has failed although it was tried again, or will not be tried again.
func (f Failure) final() bool { return f.Gated || f.tries >= 2 }

// Admits reports whether a task may start now; rest is how long to wait otherwise, 0 until the probe has ended. probing
// says whether the probe is running.
func (b *Breaker) Admits(now Instant, probing bool) (ok bool, rest time.Duration) {
	switch {
	case b.state == open:
		rest = b.opens.Rest(now)
		return rest <= 0, rest
	case b.state == halfOpen:
		return !probing, 0
	}
	return true, 0
}

// Skip ends the pause of an open breaker.
func (b *Breaker) Skip(now Instant) {
	if b.state == open {
		b.opens = now.After(0)
	}
}

// Begin records that a task starts.
func (b *Breaker) Begin(index int) {
	switch b.state {
	case open:
		b.state, b.probeFailures, b.probe = halfOpen, 0, index
	case halfOpen:
		b.probe = index
	default: // it is closed, and stays so
	}
}

// Complete records that a task is completed, and reports whether that has closed the breaker.
func (b *Breaker) Complete() bool {
	closed := b.state != closed
	*b = Breaker{limits: b.limits}
	return closed
}

// Fail records that an attempt has failed, and reports whether that has opened the breaker.
func (b *Breaker) Fail(f Failure, now Instant) bool {
	f = b.count(f)
	switch {
	case b.state == closed:
		b.why, b.cause = b.common(f)
	case b.state == halfOpen && b.probe == f.Task:
		if b.probeFailures++; !b.Excuses(f.Task, f.Cause) && !f.final() && b.probeFailures < probeAttempts {
			return false
		}
		b.failedProbes++
	default: // it began before the breaker opened
		return false
	}
	if b.why == "" {
		return false
	}
	b.state, b.opens = open, now.After(b.limits.Pause<<b.failedProbes)
	return true
}

// Excuses reports whether a failure is that of the probe, with the error that the breaker opened for: then it is not
// charged to the task.
func (b *Breaker) Excuses(index int, cause string) bool {
	return b.state == halfOpen && b.probe == index && cause != "" && cause == b.cause
}

// Exhausted reports whether the breaker has opened so often that the run ends.
func (b *Breaker) Exhausted() bool { return b.failedProbes >= maxProbes }

// count adds a failure to those of its task.
func (b *Breaker) count(f Failure) Failure {
	for i := range b.failed {
		if b.failed[i].Task == f.Task {
			f.tries = b.failed[i].tries + 1
			b.failed[i] = f
			return f
		}
	}
	f.tries = 1
	b.failed = append(b.failed, f)
	return f
}

// common reports what the failures up to this one have in common, "" when it is nothing yet, and which error if it is
// one.
func (b *Breaker) common(last Failure) (why, cause string) {
	var all, same []string
	weight := 0
	for _, f := range b.failed {
		if f.final() {
			all = append(all, f.ID)
		}
		if f.Cause != "" && f.Cause == last.Cause {
			same = append(same, f.ID)
			if weight++; f.final() {
				weight++
			}
		}
	}
	switch {
	case b.limits.SameError > 0 && weight >= 2*b.limits.SameError:
		return fmt.Sprintf("%s failed with the same error, so the tasks are probably not the cause: %s", strings.Join(same, ", "), last.Message), last.Cause
	case last.final() && b.limits.InARow > 0 && len(all) >= b.limits.InARow:
		return fmt.Sprintf("%s failed, and none was completed in between: something they share may be wrong; the last error: %s", strings.Join(all, ", "), last.Message), ""
	}
	return "", ""
}

// Probe returns the task that was let through when the breaker is half open.
func (b *Breaker) Probe() (index int, ok bool) { return b.probe, b.state == halfOpen }

// OpenUntil returns the end of the pause of an open breaker.
func (b *Breaker) OpenUntil() Deadline { return b.opens }

// Reason returns text that says why the breaker opened.
func (b *Breaker) Reason() string { return b.why }

// ExhaustedReason returns text that says why the run ends when the breaker is exhausted.
func (b *Breaker) ExhaustedReason() string {
	return fmt.Sprintf("%s; %d pauses, the last of %s, have not changed that", b.why, maxProbes, b.limits.Pause<<(maxProbes-1))
}
