package decide

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// Dispatcher gives each worker its next task and the runner that shall do it.
type Dispatcher struct {
	State  *State
	limits *Limits
	waiter *waiter
	queue  *Queue

	lastRunner string // the runner that the last task without one of its own went to
}

// Job is a task given to a worker, with the runner that shall do it.
type Job struct {
	Index        int
	Runner       string
	Open         *OpenAttempt // that a killed run left, to be brought to its end; nil: a new attempt
	SwitchReason string       // why not the runner that had it before; "" : it is the same
}

// NextJob returns a task for a worker, or what the worker has to wait for, or neither when it is to end.
func (d *Dispatcher) NextJob(ctx context.Context) (*Job, *Waiting, error) {
	d.State.Mu.Lock()
	defer d.State.Mu.Unlock()
	now := d.State.Instant()
	if left := d.NextOpen(ctx, now); left != nil {
		return left, nil, nil
	}
	if d.over(ctx, now) {
		return nil, nil, nil
	}
	next, wait, err := d.Decide(now)
	if next.Index < 0 {
		return nil, wait, err
	}
	return d.Begin(next, now), nil, nil
}

// Choice is a task that shall start now, and its runner: "" when no runner is needed. Below 0 the index is of none.
type Choice struct {
	Index  int
	Runner string
}

// Decide returns the task that shall start at now, or what to wait for, or neither when nothing more can start. It rests on what is in
// the log alone: a replay asks it again. The caller holds Mu.
func (d *Dispatcher) Decide(now clock.Instant) (next Choice, wait *Waiting, err error) {
	none := Choice{Index: -1}
	d.State.steps.free = nil
	if d.limits.finished() {
		return none, nil, nil
	}
	if d.State.Paused && d.State.Plan.CountReady() > 0 {
		return none, &Waiting{Changed: d.State.Changed}, nil
	}
	if wait, err := d.limits.waitForBreaker(now); wait != nil || err != nil || d.limits.Stopped.Reason != "" {
		return none, wait, err
	}
	i, runner := d.choose(now)
	if i >= 0 {
		if rest := d.queue.waitForLanding(i, now.Run); rest > 0 {
			return none, &Waiting{Changed: d.State.Changed, Rest: rest}, nil
		}
		if wait, err := d.limits.waitForRoom(now); wait != nil || err != nil || d.limits.Stopped.Reason != "" {
			return none, wait, err
		}
		return Choice{i, runner}, nil, nil
	}
	if d.State.Plan.CountReady() == 0 {
		return none, d.nothingReady(now), nil
	}
	return d.idle(now)
}

// Begin starts a task that was chosen. The caller holds Mu.
func (d *Dispatcher) Begin(next Choice, now clock.Instant) *Job {
	i, reason := next.Index, ""
	if d.State.Plan.MissingReviewers(i) == nil {
		reason = d.switchReason(i, next.Runner, now)
	}
	d.askRunners(i, next.Runner, now)
	d.State.Plan.Start(i)
	d.limits.breaker.Begin(i)
	delete(d.limits.stopping, d.State.Plan.Task(i).ID)
	d.State.Step(now, attempts.Step{Kind: attempts.StepChosen, Task: d.State.Plan.Task(i).ID, Runner: next.Runner})
	return &Job{Index: i, Runner: next.Runner, SwitchReason: reason}
}

// nothingReady returns what a worker waits for when no task is ready, or nil when no more can become ready. The caller holds Mu.
func (d *Dispatcher) nothingReady(now clock.Instant) *Waiting {
	wait := &Waiting{Changed: d.State.Changed}
	switch {
	case d.State.Plan.CountRunning() > 0:
	case d.State.Plan.RetryPostponed():
		d.State.Step(now, attempts.Step{Kind: attempts.StepRetried})
		d.State.Announce() // everybody looks again at once
	default:
		return nil
	}
	return wait
}

// How far agents may go on while a reviewer is not to be asked: each job has one task under way or done, and one more
// ahead of it. Work that waits for its review grows old, and who reads it in the morning has more to undo.
const tasksPerJobUnreviewed = 2

// choose returns the task to start now, and its runner: "" when no runner is needed. A review that can be held goes
// before new work. The caller holds Mu.
func (d *Dispatcher) choose(now clock.Instant) (i int, runner string) {
	able := func(i int, names []string) (int, bool) {
		return d.State.Pool.Review(d.State.Plan.Task(i).ID, names, now)
	}
	if i := d.State.Plan.NextReview(able); i >= 0 {
		return i, d.reviewedRunner(i, now)
	}
	if !d.State.Pool.AllOpen("", d.wanted(), now) {
		return -1, ""
	}
	for _, rank := range d.State.Pool.Ranks() {
		i = d.State.Plan.Next(func(i int) bool {
			if d.State.Plan.MissingReviewers(i) != nil {
				return false
			}
			name, its, ok := d.State.Pool.Pick(d.State.Plan.Task(i).ID, d.State.Plan.Task(i).Runner, now)
			runner = name
			return ok && its == rank
		})
		if i >= 0 {
			return i, runner
		}
	}
	return -1, ""
}

// wanted returns the reviewers without whom no agent begins new work: none while little work waits for its review and all
// reviewers can be asked in this run. The caller holds Mu.
func (d *Dispatcher) wanted() []string {
	if d.State.Pool.PanelOut() || d.State.O.Isolation != engine.IsolationWorktree ||
		d.State.Plan.CountUnreviewed() >= tasksPerJobUnreviewed*d.State.O.Jobs {
		return d.State.Pool.Panel
	}
	return nil
}

// reviewedRunner returns the runner for a task that lacks only a review: the one that did the work, if it may be asked, else
// another one.
func (d *Dispatcher) reviewedRunner(i int, now clock.Instant) string {
	task := d.State.Plan.Task(i)
	last := ""
	if earlier := d.State.store.Task(task.ID).Attempts; len(earlier) > 0 {
		last = earlier[len(earlier)-1].Runner
	}
	if d.State.Pool.Open(last, task.ID, now) {
		return last
	}
	other, _, _ := d.State.Pool.Pick(task.ID, task.Runner, now)
	return text.FirstOf(other, last)
}

// askRunners tells the pool which runner, or which reviewers, a task that begins asks. The caller holds Mu.
func (d *Dispatcher) askRunners(i int, runner string, now clock.Instant) {
	task := d.State.Plan.Task(i).ID
	lacking := d.State.Plan.MissingReviewers(i)
	if lacking == nil {
		d.State.Pool.Ask(runner, task, now)
	}
	for _, name := range lacking {
		d.State.Pool.Ask(name, task, now)
	}
}

// switchReason returns, in words, why a task goes to another runner than the task before it, or than its own last attempt; "" if it does
// not. The caller holds Mu.
func (d *Dispatcher) switchReason(i int, to string, now clock.Instant) string {
	from := ""
	task := d.State.Plan.Task(i)
	if task.Runner == "" {
		from = text.FirstOf(d.lastRunner, d.State.Pool.Order[0])
		d.lastRunner = to
	}
	if from == "" || from == to {
		from = to
		if earlier := d.State.store.Task(task.ID).Attempts; len(earlier) > 0 {
			from = text.FirstOf(earlier[len(earlier)-1].Runner, to)
		}
	}
	if from == to {
		return ""
	}
	return d.State.Pool.SwitchReason(from, to, now, text.Clock)
}
