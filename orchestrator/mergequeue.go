package orchestrator

import (
	"context"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
)

// mergeQueue lands proved work, in the order it became ready.
type mergeQueue struct {
	state    *state
	recorder *recorder
	merger   engine.Merger
	waiting  []queued
}

// queued is a proved attempt that waits for its landing, with what recording its end needs.
type queued struct {
	engine.Verified
	job     job
	record  attempts.TaskRecord
	began   time.Duration // on the run's clock, as
	ready   time.Duration // is when it was proved
	checked time.Duration // how long its checks took
}

// enqueue makes a proved attempt wait for its landing. Its worker is free then; the task still counts as running. The caller holds mu.
func (q *mergeQueue) enqueue(c queued, now clock.Instant) {
	made := q.state.provedStep(c.Attempt, c.Result)
	q.state.step(now, made)
	c.ready, c.checked = now.Run, time.Duration(made.Checked)
	q.waiting = append(q.waiting, c)
	q.state.notify(Update{Kind: UpdateVerified, Task: c.Attempt.Task.ID})
	if q.state.plan != nil {
		q.state.plan.AwaitLanding(c.job.index, c.Result.Receipt.FilesChanged)
	}
	q.state.announce()
}

// landingPatience is how long a worker waits for a landing rather than take a task that is less urgent than those that
// wait for it. Most landings are over in less, and a task begun in the meantime keeps the worker for many minutes.
const landingPatience = slowChecks

// waitForLanding returns how long a free worker should rather wait than do task i: more than 0 if what lands next makes a more
// urgent task ready. The caller holds mu.
func (q *mergeQueue) waitForLanding(i int, now time.Duration) (rest time.Duration) {
	if q == nil {
		return 0
	}
	var soon []int
	for _, c := range q.due() {
		if patience := c.ready + landingPatience - now; patience > 0 {
			soon, rest = append(soon, c.job.index), patience
		}
	}
	if len(soon) == 0 || !q.state.plan.Unblocks(soon, i) {
		return 0
	}
	return rest
}

// land lands what waits until the workers have ended and nothing waits any more, or ctx ends.
func (q *mergeQueue) land(ctx context.Context) error {
	for {
		due, together, wait := q.nextBatch(ctx)
		if wait != nil {
			wait.wait(ctx, nil) // what is under way lands, also when nothing new is started
			continue
		}
		if due == nil {
			return nil
		}
		if err := q.mergeBatch(ctx, due, together); err != nil {
			q.state.fail(err)
			return err
		}
	}
}

// nextBatch returns what can land now and how many of the first are put together, or what to wait for, or nothing when no more will
// come.
func (q *mergeQueue) nextBatch(ctx context.Context) (due []queued, together int, wait *waiting) {
	q.state.mu.Lock()
	defer q.state.mu.Unlock()
	if ctx.Err() != nil || q.state.broken != nil {
		return nil, 0, nil
	}
	if due = q.due(); len(due) > 0 {
		together = q.together(due)
		q.state.step(q.state.instant(), attempts.Step{Kind: attempts.StepJoined, Tasks: tasksOf(due), Together: together})
	}
	if len(due) > 0 || q.state.workers == 0 {
		return due, together, nil
	}
	return nil, 0, &waiting{changed: q.state.changed}
}

// together returns how many of what can land share one run of their checks first. The caller holds mu.
func (q *mergeQueue) together(due []queued) int {
	checked := make([]time.Duration, len(due))
	for i := range due {
		checked[i] = due[i].checked
	}
	return schedule.LandTogether(checked, q.state.o.slowChecks())
}

// due returns what can land now, in the order it became ready. Work that could not land before goes first, and work that
// contends with such a task waits until that is done, so that nobody loses twice over the same files. The caller holds mu.
func (q *mergeQueue) due() []queued {
	var first, then []queued
	for _, c := range q.waiting {
		switch {
		case q.state.plan.BlocksContested(c.job.index):
		case q.state.plan.IsContested(c.job.index):
			first = append(first, c)
		default:
			then = append(then, c)
		}
	}
	return append(first, then...)
}

// mergeBatch moves the branch one step. What is left waiting when the run is stopped stays open, and the next run lands it.
func (q *mergeQueue) mergeBatch(ctx context.Context, batch []queued, together int) error {
	step, err := q.join(ctx, batch, together)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := q.intend(batch, step); err != nil {
		return err
	}
	if moved, err := q.merger.Advance(ctx, step); err != nil || !moved {
		return err
	}
	for i, f := range step.Results {
		if err := q.recorder.end(batch[i].job, batch[i].Attempt, batch[i].record, f, batch[i].began); err != nil {
			return err
		}
	}
	q.state.withLock(func() { q.remove(batch[:len(step.Results)]) })
	return nil
}

// join makes the branch's next step of the first of what can land, that many together. Of those that fail their checks together,
// fewer are tried.
func (q *mergeQueue) join(ctx context.Context, due []queued, together int) (engine.Step, error) {
	group := make([]engine.Verified, together)
	for i := range group {
		group[i] = due[i].Verified
	}
	for {
		step, err := q.merger.Join(ctx, group)
		red := step.Red
		if err != nil || ctx.Err() != nil || red < 2 {
			return step, err
		}
		group = group[:schedule.LandFewer(red)]
		q.state.withLock(func() {
			made := attempts.Step{Kind: attempts.StepSplit, Tasks: tasksOf(due[:red]), Together: len(group)}
			q.state.step(q.state.instant(), made)
		})
	}
}

// remove takes a batch off the queue, whose landing is over. The caller holds mu.
func (q *mergeQueue) remove(batch []queued) {
	q.state.step(q.state.instant(), attempts.Step{Kind: attempts.StepLanded, Tasks: tasksOf(batch)})
	q.waiting = slices.DeleteFunc(q.waiting, func(w queued) bool {
		return slices.ContainsFunc(batch, func(c queued) bool { return c.job.index == w.job.index })
	})
}

// intend records what is about to land, so that a run that is killed after the branch has moved can be continued. Attempts that
// changed nothing are left out.
func (q *mergeQueue) intend(batch []queued, step engine.Step) error {
	var events []attempts.Event
	for i, f := range step.Results {
		if f.Outcome != attempts.Success || step.To == step.From && f.Head == batch[i].Attempt.Base {
			continue
		}
		a := batch[i].Attempt
		ended := q.recorder.endedEvent(a, f)
		events = append(events, attempts.Event{Type: attempts.TypeLanding, Task: a.Task.ID, Attempt: a.Number, Landing: &ended})
	}
	if len(events) == 0 {
		return nil
	}
	q.state.carrySteps(events)
	return q.state.store.Append(events...)
}
