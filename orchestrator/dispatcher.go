package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// dispatcher gives each worker its next task and the runner that shall do it.
type dispatcher struct {
	state    *state
	limits   *limits
	waiter   *waiter
	recovery *recovery
	merges   *mergeQueue

	lastRunner string // the runner that the last task without one of its own went to
}

// job is a task given to a worker, with the runner that shall do it.
type job struct {
	index        int
	runner       string
	recover      func(ctx context.Context) error // of an attempt that a killed run left open: brings it to its end; nil: a new attempt
	switchReason string                          // why not the runner that had it before; "" : it is the same
}

// nextJob returns a task for a worker, or what the worker has to wait for, or neither when it is to end.
func (d *dispatcher) nextJob(ctx context.Context) (*job, *waiting, error) {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	now := d.state.instant()
	if left := d.recovery.nextOpen(ctx, now); left != nil {
		return left, nil, nil
	}
	if d.recovery.over(ctx, now) {
		return nil, nil, nil
	}
	next, wait, err := d.decide(now)
	if next.index < 0 {
		return nil, wait, err
	}
	return d.begin(next, now), nil, nil
}

// choice is a task that shall start now, and its runner: "" when no runner is needed. Below 0 the index is of none.
type choice struct {
	index  int
	runner string
}

// decide returns the task that shall start at now, or what to wait for, or neither when nothing more can start. It rests on what is in
// the log alone: a replay asks it again. The caller holds mu.
func (d *dispatcher) decide(now clock.Instant) (next choice, wait *waiting, err error) {
	none := choice{index: -1}
	d.state.steps.free = nil
	if d.limits.finished() {
		return none, nil, nil
	}
	if wait, err := d.limits.waitForBreaker(now); wait != nil || err != nil || d.limits.stopped.reason != "" {
		return none, wait, err
	}
	i, runner := d.choose(now)
	if i >= 0 {
		if rest := d.merges.waitForLanding(i, now.Run); rest > 0 {
			return none, &waiting{changed: d.state.changed, rest: rest}, nil
		}
		if wait, err := d.limits.waitForRoom(now); wait != nil || err != nil || d.limits.stopped.reason != "" {
			return none, wait, err
		}
		return choice{i, runner}, nil, nil
	}
	if d.state.plan.CountReady() == 0 {
		return none, d.nothingReady(now), nil
	}
	return d.idle(now)
}

// begin starts a task that was chosen. The caller holds mu.
func (d *dispatcher) begin(next choice, now clock.Instant) *job {
	i, reason := next.index, ""
	if d.state.plan.MissingReviewers(i) == nil {
		reason = d.switchReason(i, next.runner, now)
	}
	d.askRunners(i, next.runner, now)
	d.state.plan.Start(i)
	d.limits.breaker.Begin(i)
	d.state.step(now, attempts.Step{Kind: attempts.StepChosen, Task: d.state.plan.Task(i).ID, Runner: next.runner})
	return &job{index: i, runner: next.runner, switchReason: reason}
}

// nothingReady returns what a worker waits for when no task is ready, or nil when no more can become ready. The caller holds mu.
func (d *dispatcher) nothingReady(now clock.Instant) *waiting {
	wait := &waiting{changed: d.state.changed}
	switch {
	case d.state.plan.CountRunning() > 0:
	case d.state.plan.RetryPostponed():
		d.state.step(now, attempts.Step{Kind: attempts.StepRetried})
		d.state.announce() // everybody looks again at once
	default:
		return nil
	}
	return wait
}

// How far agents may go on while a reviewer is not to be asked: each job has one task under way or done, and one more
// ahead of it. Work that waits for its review grows old, and who reads it in the morning has more to undo.
const tasksPerJobUnreviewed = 2

// choose returns the task to start now, and its runner: "" when no runner is needed. A review that can be held goes
// before new work. The caller holds mu.
func (d *dispatcher) choose(now clock.Instant) (i int, runner string) {
	able := func(i int, names []string) (int, bool) {
		return d.state.pool.Review(d.state.plan.Task(i).ID, names, now)
	}
	if i := d.state.plan.NextReview(able); i >= 0 {
		return i, d.reviewedRunner(i, now)
	}
	if !d.state.pool.AllOpen("", d.wanted(), now) {
		return -1, ""
	}
	for _, rank := range d.state.pool.Ranks() {
		i = d.state.plan.Next(func(i int) bool {
			if d.state.plan.MissingReviewers(i) != nil {
				return false
			}
			name, its, ok := d.state.pool.Pick(d.state.plan.Task(i).ID, d.state.plan.Task(i).Runner, now)
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
// reviewers can be asked in this run. The caller holds mu.
func (d *dispatcher) wanted() []string {
	if d.state.pool.PanelOut() || d.state.o.Isolation != engine.IsolationWorktree ||
		d.state.plan.CountUnreviewed() >= tasksPerJobUnreviewed*d.state.o.Jobs {
		return d.state.pool.Panel
	}
	return nil
}

// reviewedRunner returns the runner for a task that lacks only a review: the one that did the work, if it may be asked, else
// another one.
func (d *dispatcher) reviewedRunner(i int, now clock.Instant) string {
	task := d.state.plan.Task(i)
	last := ""
	if earlier := d.state.store.Task(task.ID).Attempts; len(earlier) > 0 {
		last = earlier[len(earlier)-1].Runner
	}
	if d.state.pool.Open(last, task.ID, now) {
		return last
	}
	other, _, _ := d.state.pool.Pick(task.ID, task.Runner, now)
	return text.FirstOf(other, last)
}

// askRunners tells the pool which runner, or which reviewers, a task that begins asks. The caller holds mu.
func (d *dispatcher) askRunners(i int, runner string, now clock.Instant) {
	task := d.state.plan.Task(i).ID
	lacking := d.state.plan.MissingReviewers(i)
	if lacking == nil {
		d.state.pool.Ask(runner, task, now)
	}
	for _, name := range lacking {
		d.state.pool.Ask(name, task, now)
	}
}

// switchReason returns, in words, why a task goes to another runner than the task before it, or than its own last attempt; "" if it does
// not. The caller holds mu.
func (d *dispatcher) switchReason(i int, to string, now clock.Instant) string {
	from := ""
	task := d.state.plan.Task(i)
	if task.Runner == "" {
		from = text.FirstOf(d.lastRunner, d.state.pool.Order[0])
		d.lastRunner = to
	}
	if from == "" || from == to {
		from = to
		if earlier := d.state.store.Task(task.ID).Attempts; len(earlier) > 0 {
			from = text.FirstOf(earlier[len(earlier)-1].Runner, to)
		}
	}
	if from == to {
		return ""
	}
	return d.state.pool.SwitchReason(from, to, now, clockText)
}
