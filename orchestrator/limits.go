package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
)

// stopReason is why a run starts nothing more although there is more to do. What runs comes to its end, but at the deadline.
type stopReason struct {
	reason Reason
	why    string // in words
}

// stop has the run start nothing more, and records why. The caller holds mu.
func (r *run) stop(reason Reason, why string) error {
	if r.stopped.reason != "" {
		return nil
	}
	r.stopped = stopReason{reason, why}
	r.tell(Update{Kind: UpdateStopping, Text: why})
	r.announce()
	return r.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: "limit", Text: why}})
}

// errDeadline is the cause that agents are stopped for at the deadline.
var errDeadline = errors.New("the run's deadline has come")

// untilDeadline is a context that ends at the run's deadline. over must be called when nothing needs it any more.
func (r *run) untilDeadline(ctx context.Context) (bounded context.Context, over func()) {
	if r.deadline == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			now := r.instant()
			rest := r.deadline.Rest(now)
			if rest <= 0 {
				r.expire()
				cancel(errDeadline)
				return
			}
			(&waiting{rest: rest}).wait(ctx, nil)
		}
	})
	return ctx, func() { cancel(nil); watch.Wait() }
}

// atDeadline reports whether an error is only what stopping at the deadline does.
func atDeadline(ctx context.Context, err error) bool {
	return errors.Is(context.Cause(ctx), errDeadline) && (errors.Is(err, errDeadline) || errors.Is(err, context.Canceled))
}

// expire ends the run at its deadline.
func (r *run) expire() {
	r.mu.Lock()
	err := r.stop(Deadline, "the deadline has come: running attempts are asked to end, and their work is kept")
	r.mu.Unlock()
	if err != nil {
		r.fail(err)
	}
}

// pointless reports that a wait would last beyond the run's deadline.
func (r *run) pointless(at clock.Deadline, now clock.Instant) bool {
	return r.deadline != nil && at.Rest(now) >= r.deadline.Rest(now)
}

// checkLimits holds how an attempt ended against the limits of the whole run. The caller holds mu.
func (r *run) checkLimits(index int, a engine.Attempt, f engine.Result, e attempts.Ended) error {
	if e.Result == attempts.ResultSuccess {
		return r.breakerCompleted(a)
	}
	if f.Held { // nobody has done anything
		return nil
	}
	if failsTask(f, e) {
		return r.judgeFailure(index, a, e)
	}
	return nil
}

// countUncharged ends the run that has had too many attempts which ended through no fault of an agent. The caller holds mu.
func (r *run) countUncharged(f engine.Result, e attempts.Ended, rule ruling) error {
	uncounted := e.Result == attempts.ResultSuccess || e.Charged || e.Outcome.Charged() || f.Outcome == attempts.Stopped || f.Outcome == attempts.Budget
	if uncounted || f.Held || rule.repeat {
		return nil
	}
	r.uncharged++
	if most := r.o.Limits.MaxUnchargedRun; most > 0 && r.uncharged >= most {
		return r.stop(UnchargedRetries, fmt.Sprintf("%d attempts of this run ended through no fault of an agent; the last: %s", r.uncharged, e.Receipt.ErrorSummary))
	}
	return nil
}

// failsTask reports whether the task has failed: not its runner, its reviewers, or its landing among others.
func failsTask(f engine.Result, e attempts.Ended) bool {
	if e.Outcome == attempts.Conflict || engine.RunnerFault(f.Outcome) || e.Receipt.AwaitsReview() {
		return false
	}
	return e.Charged || e.Outcome.Charged() || e.Gate != nil || e.Outcome == attempts.Environment
}

// Free is what a machine has left, in bytes; less than 0 is not known.
type Free struct{ Disk, Memory int64 }

// roomPause is how often a run that lacks room looks whether there is some.
const roomPause = 10 * time.Second

// cramped returns what to wait for when the machine has no room for another attempt. When it has had none for too long,
// the run is halted. The caller holds mu.
func (r *run) waitForRoom(now clock.Instant) (*waiting, error) {
	reason, lacks, why := r.lacking()
	if reason == "" {
		r.roomUntil = nil
		return nil, nil
	}
	if r.roomUntil == nil {
		until := now.After(r.o.Limits.FloorWait)
		r.roomUntil = &until
	}
	rest := r.roomUntil.Rest(now)
	if rest <= 0 && r.plan.CountRunning() == 0 {
		return nil, r.stop(reason, why)
	}
	if rest <= 0 || rest > roomPause {
		rest = roomPause
	}
	err := r.tellWaiting(UpdateCramped, attempts.Waiting{Until: r.roomUntil.Day.UTC(), For: lacks, Why: why})
	return &waiting{changed: r.changed, rest: rest}, err
}

// lacking says what the machine has too little of to start an attempt.
func (r *run) lacking() (reason Reason, lacks, why string) {
	lim := r.o.Limits
	if r.o.Free == nil || lim.DiskFloor <= 0 && lim.MemoryFloor <= 0 {
		return "", "", ""
	}
	switch free := r.o.Free(); {
	case free.Disk >= 0 && free.Disk < lim.DiskFloor:
		return DiskFloor, "room on the disk", short(free.Disk, lim.DiskFloor)
	case free.Memory >= 0 && free.Memory < lim.MemoryFloor:
		return MemoryFloor, "memory", short(free.Memory, lim.MemoryFloor)
	}
	return "", "", ""
}

func short(have, want int64) string {
	return fmt.Sprintf("%d MiB are free, and nothing is started below %d", have>>20, want>>20)
}

// heldGate gates a task that was held back and cannot be done either now that nothing else is left to do.
func (r *run) heldGate(a engine.Attempt, e attempts.Ended) *attempts.Gate {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i, ok := r.o.Graph.Index(a.Task.ID); !ok || !r.plan.WasPostponed(i) {
		return nil
	}
	return &attempts.Gate{Reason: attempts.Infrastructure, Detail: e.Receipt.ErrorSummary, At: r.now().UTC()}
}
