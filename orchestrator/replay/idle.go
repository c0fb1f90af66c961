package replay

import (
	"time"

	"relay/orchestrator/decide"
	"relay/orchestrator/limits"
)

// idleFor is how long a job is left free before that is a decision: a worker that waits looks again after decide.LongestWait at most.
const idleFor = decide.LongestWait + 5*time.Second

// idle holds against the code that no task was started while a job was free, up to a while before a step.
func idle(r *replayer, s recordedStep) {
	before := r.log.steps[r.log.next-1].Step
	gap := time.Duration(s.Ran - before.Ran)
	if r.over || r.stopped || r.s.Plan == nil || gap <= idleFor || len(r.s.OpenJobs) > 0 ||
		r.s.Plan.CountRunning()-r.s.Queue.Count() >= r.s.O.Jobs {
		return
	}
	// A worker that waits for others to change something does not look again by itself.
	if next, wait := wouldDo(r, r.log.instant(before)); next.Index < 0 && (wait == nil || wait.Rest <= 0) {
		return
	}
	before.Ran += int64(gap - idleFor)
	before.Drift = min(before.Drift, s.Drift) // when the day's clock has jumped is not known
	checkIdle(r, r.log.instant(before))
}

// wouldDo returns what is decided at a time, and takes it back.
func wouldDo(r *replayer, now limits.Instant) (decide.Choice, *decide.Waiting) {
	at := r.at
	r.at = now
	defer func() { r.at = at }()
	defer r.s.Dispatcher.Kept()()
	next, wait, _ := r.Decide(r.s.Dispatcher, now)
	return next, wait
}

// checkIdle reports a task that could start now.
func checkIdle(r *replayer, now limits.Instant) {
	if r.s.Limits.Cramped() {
		return // the machine had no room when it was looked at last
	}
	r.report.Made(Idle)
	at, free := r.at, r.free
	defer func() { r.at, r.free = at, free }()
	r.at, r.free = now, decide.Free{Disk: -1, Memory: -1}
	if next, _ := wouldDo(r, now); next.Index >= 0 {
		task := r.s.Plan.Task(next.Index).ID
		r.differs(Idle, task, "it was left waiting while a job was free", startText(task, next.Runner))
	}
}

// ended holds the end of a run that ended by itself against the code: nothing could start any more.
func ended(r *replayer) {
	stop := r.log.stopped
	if stop == nil || r.s == nil || r.over || r.stopped || r.s.Plan == nil {
		return
	}
	switch decide.EndReason(stop.Reason) {
	case decide.EpicComplete, decide.NoRunnableTasks:
		checkIdle(r, r.at)
	default: // the reason is a step
	}
}
