package orchestrator

import (
	"time"

	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/replay"
)

// idleFor is how long a job is left free before that is a decision: a worker that waits looks again after longestWait at most.
const idleFor = longestWait + 5*time.Second

// idle holds against the code that no task was started while a job was free, up to a while before a step.
func (r *replayer) idle(s recordedStep) {
	before := r.log.steps[r.log.next-1].Step
	gap := time.Duration(s.Ran - before.Ran)
	if r.over || r.stopped || r.run.state.plan == nil || gap <= idleFor || r.busy() >= r.run.state.o.Jobs || len(r.run.state.openJobs) > 0 {
		return
	}
	if !r.wakes(r.log.instant(before)) {
		return
	}
	before.Ran += int64(gap - idleFor)
	before.Drift = min(before.Drift, s.Drift) // when the day's clock has jumped is not known
	r.checkIdle(r.log.instant(before))
}

// wakes reports whether a worker that is free now looks for work again by itself: else it waits for others to change something.
func (r *replayer) wakes(now clock.Instant) bool {
	at := r.at
	r.at = now
	kept := r.run.keepLimits()
	next, wait, _ := r.decide(r.run.dispatcher, now)
	kept()
	r.at = at
	return next.index >= 0 || wait != nil && wait.rest > 0
}

// checkIdle reports a task that could start now.
func (r *replayer) checkIdle(now clock.Instant) {
	if r.run.limits.roomUntil != nil {
		return // the machine had no room when it was looked at last
	}
	r.report.Made(replay.Idle)
	at, free := r.at, r.free
	defer func() { r.at, r.free = at, free }()
	r.at, r.free = now, Free{-1, -1}
	kept := r.run.keepLimits()
	next, _, _ := r.decide(r.run.dispatcher, now)
	kept()
	if next.index >= 0 {
		task := r.run.state.plan.Task(next.index).ID
		r.differs(replay.Idle, task, "it was left waiting while a job was free", startText(task, next.runner))
	}
}

// keepLimits returns a function that takes back what deciding has changed of the limits of the run.
func (r *run) keepLimits() func() {
	stopped, exhausted, last, room := r.limits.stopped, r.limits.exhaustedBy, r.dispatcher.waiter.last, r.limits.roomUntil
	return func() {
		r.limits.stopped, r.limits.exhaustedBy, r.dispatcher.waiter.last, r.limits.roomUntil = stopped, exhausted, last, room
	}
}

// busy returns how many workers have a task.
func (r *replayer) busy() int {
	n := r.run.state.plan.CountRunning()
	if r.run.merges != nil {
		n -= len(r.run.merges.waiting)
	}
	return n
}

// ended holds the end of a run that ended by itself against the code: nothing could start any more.
func (r *replayer) ended() {
	stop := r.log.stopped
	if stop == nil || r.run == nil || r.over || r.stopped || r.run.state.plan == nil {
		return
	}
	switch ending.Reason(stop.Reason) {
	case ending.EpicComplete, ending.NoRunnableTasks:
		r.checkIdle(r.at)
	default: // the reason is a step
	}
}
