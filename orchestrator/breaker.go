package orchestrator

import (
	"fmt"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// breaker is the circuit breaker of a run. It opens when several tasks have failed although they were tried again, and
// none was completed in between: what they share may be wrong. Then nothing starts for a pause, and after it one attempt
// at a time until a task is completed, which closes it, or has failed too, which opens it again for twice as long. When
// that has happened often enough, the run ends. It knows no clock: the caller says what time it is.
type breaker struct {
	sameError    int           // tasks that failed with the same error; 0: no limit
	failedInARow int           // tasks that failed with any; 0: no limit
	pause        time.Duration // the first one

	state  breakerState
	failed []failedTask   // since a task was last completed, each task once
	why    string         // it opened, in words
	cause  string         // the error it opened for; "": the tasks had different ones
	opens  clock.Deadline // when it is open: the end of the pause
	probe  int            // when it is half open: the task that was let through
	tried  int            // attempts that have failed since it was half open
	lost   int            // how often that has ended with a failure
}

type breakerState uint8

const (
	breakerClosed breakerState = iota
	breakerOpen
	breakerHalfOpen
)

// mostProbes is how many pauses a run makes before it ends, and triesOfProbe how many attempts may fail after each: the
// first failure of a task says little.
const (
	mostProbes   = 3
	triesOfProbe = 2
)

// failedTask is what is known of a task that has failed.
type failedTask struct {
	index int
	id    string
	tries int
	gated bool
	cause string // of its last failure; "": not known
	said  string // the same, for people
}

// spent reports whether the task has failed although it was tried again, or will not be tried again.
func (f failedTask) spent() bool { return f.gated || f.tries >= 2 }

// admits reports whether a task may start now; rest is how long to wait otherwise, 0 until the probe has ended.
func (b *breaker) admits(now clock.Instant, probing bool) (ok bool, rest time.Duration) {
	switch {
	case b.state == breakerOpen:
		rest = b.opens.Rest(now)
		return rest <= 0, rest
	case b.state == breakerHalfOpen:
		return !probing, 0
	}
	return true, 0
}

// begin notes that a task starts.
func (b *breaker) begin(index int) {
	switch b.state {
	case breakerOpen:
		b.state, b.tried, b.probe = breakerHalfOpen, 0, index
	case breakerHalfOpen:
		b.probe = index
	}
}

// complete notes that a task is completed, and reports whether that has closed the breaker.
func (b *breaker) complete() bool {
	closed := b.state != breakerClosed
	*b = breaker{sameError: b.sameError, failedInARow: b.failedInARow, pause: b.pause}
	return closed
}

// fail notes that an attempt has failed, and reports whether that has opened the breaker.
func (b *breaker) fail(f failedTask, now clock.Instant) bool {
	f = b.count(f)
	switch {
	case b.state == breakerClosed:
		b.why, b.cause = b.common(f)
	case b.state == breakerHalfOpen && b.probe == f.index:
		if b.tried++; !b.excuses(f.index, f.cause) && !f.spent() && b.tried < triesOfProbe {
			return false
		}
		b.lost++
	default: // it began before the breaker opened
		return false
	}
	if b.why == "" {
		return false
	}
	b.state, b.opens = breakerOpen, now.After(b.pause<<b.lost)
	return true
}

// excuses reports whether a failure is that of the probe, with the very error that the breaker opened for: then it is not
// charged to the task.
func (b *breaker) excuses(index int, cause string) bool {
	return b.state == breakerHalfOpen && b.probe == index && cause != "" && cause == b.cause
}

// exhausted reports whether the run has paused often enough.
func (b *breaker) exhausted() bool { return b.lost >= mostProbes }

// count adds a failure to those of its task.
func (b *breaker) count(f failedTask) failedTask {
	for i := range b.failed {
		if b.failed[i].index == f.index {
			f.tries = b.failed[i].tries + 1
			b.failed[i] = f
			return f
		}
	}
	f.tries = 1
	b.failed = append(b.failed, f)
	return f
}

// common says what the failures up to this one have in common, "" when it is nothing yet, and which error if it is one.
func (b *breaker) common(last failedTask) (why, cause string) {
	var all, same []string
	for _, f := range b.failed {
		if !f.spent() {
			continue
		}
		all = append(all, f.id)
		if f.cause != "" && f.cause == last.cause {
			same = append(same, f.id)
		}
	}
	switch {
	case !last.spent():
	case b.sameError > 0 && len(same) >= b.sameError:
		return fmt.Sprintf("%s failed with the same error, so it is hardly theirs: %s", strings.Join(same, ", "), last.said), last.cause
	case b.failedInARow > 0 && len(all) >= b.failedInARow:
		return fmt.Sprintf("%s failed, and none was completed in between: something they share may be wrong; the last error: %s", strings.Join(all, ", "), last.said), ""
	}
	return "", ""
}

// tripped returns what to wait for while the breaker keeps a task from starting. A pause beyond the deadline ends the run.
// The caller holds mu.
func (n *night) tripped(now clock.Instant) (*waiting, error) {
	b := &n.breaker
	ok, rest := b.admits(now, b.state == breakerHalfOpen && n.plan.IsRunning(b.probe))
	if ok || n.plan.CountReady() == 0 {
		return nil, nil
	}
	if rest == 0 {
		return &waiting{changed: n.changed}, nil
	}
	if n.plan.CountRunning() == 0 && n.pointless(b.opens, now) {
		return nil, n.halt(CircuitBreaker, b.why)
	}
	err := n.tellWaiting(UpdatePaused, attempts.Waiting{Until: b.opens.Day.UTC(), For: "another try", Why: b.why})
	return &waiting{changed: n.changed, rest: rest}, err
}

// goOn tells the breaker that a task is completed. The caller holds mu.
func (n *night) goOn(a Assignment) error {
	if !n.breaker.complete() {
		return nil
	}
	note := &attempts.Note{Kind: "limit", Text: a.Task.ID + " was completed: the run goes on"}
	n.tell(Update{Kind: UpdateNote, Text: note.Text})
	return n.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}

// judgeFailure tells the breaker how an attempt failed. The caller holds mu.
func (n *night) judgeFailure(index int, a Assignment, e attempts.Ended) error {
	b := &n.breaker
	b.fail(failedTask{index: index, id: a.Task.ID, gated: e.Gate != nil, cause: attempts.Cause(e.Receipt), said: e.Receipt.ErrorSummary}, n.moment())
	if !b.exhausted() {
		return nil
	}
	return n.halt(CircuitBreaker, fmt.Sprintf("%s; %d pauses, the last of %s, have not changed that", b.why, mostProbes, b.pause<<(mostProbes-1)))
}

// excused reports whether an attempt failed only for what has opened the breaker.
func (n *night) excused(a Assignment, e attempts.Ended) bool {
	index, ok := n.o.Graph.Index(a.Task.ID)
	n.mu.Lock()
	defer n.mu.Unlock()
	return ok && n.breaker.excuses(index, attempts.Cause(e.Receipt))
}
