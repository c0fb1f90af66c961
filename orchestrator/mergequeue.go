package orchestrator

import (
	"context"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/worker"
)

// mergeQueue is what waits to be landed, in the order it became ready.
type mergeQueue struct {
	merger  engine.Merger
	waiting []queued
}

// queued is one attempt that waits, with what closing it needs.
type queued struct {
	engine.Proved
	job    job
	record attempts.TaskRecord
	began  time.Duration // on the run's clock, as
	ready  time.Duration // is when it was proved
}

// enqueue has a proved attempt wait for its landing; its worker is free. The task still counts as running.
func (r *run) enqueue(c queued) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.ready = r.ran()
	r.merges.waiting = append(r.merges.waiting, c)
	r.tell(Update{Kind: UpdateProved, Task: c.Attempt.Task.ID})
	if r.plan != nil {
		r.plan.AwaitLanding(c.job.index, c.Result.Receipt.FilesChanged)
	}
	r.announce()
}

// landingPatience is how long a worker waits for a landing rather than take a task that is less urgent than those that
// wait for it. Most landings are over in less, and a task begun in the meantime keeps the worker for many minutes.
const landingPatience = worker.SlowChecks

// landsSoon returns how long a free worker should rather wait than do task i, if at all: what lands next makes something
// ready that is more urgent. The caller holds mu.
func (r *run) landsSoon(i int, now time.Duration) (rest time.Duration) {
	if r.merges == nil {
		return 0
	}
	var soon []int
	for _, c := range r.due() {
		if patience := c.ready + landingPatience - now; patience > 0 {
			soon, rest = append(soon, c.job.index), patience
		}
	}
	if len(soon) == 0 || !r.plan.Unblocks(soon, i) {
		return 0
	}
	return rest
}

// runMergeQueue lands what waits until nothing can come any more.
func (r *run) runMergeQueue(ctx context.Context) error {
	for {
		batch, wait := r.nextBatch(ctx)
		if wait != nil {
			wait.wait(ctx, nil) // what is under way lands, also when nothing new is started
			continue
		}
		if batch == nil {
			return nil
		}
		if err := r.mergeBatch(ctx, batch); err != nil {
			r.fail(err)
			return err
		}
	}
}

// nextBatch returns what waits to be landed, or what to wait for, or neither when nothing will come.
func (r *run) nextBatch(ctx context.Context) ([]queued, *waiting) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil || r.broken != nil {
		return nil, nil
	}
	due := r.due()
	if len(due) > 0 || r.workers == 0 {
		return due, nil
	}
	return nil, &waiting{changed: r.changed}
}

// due is what can land now, in the order it became ready, which is one of dependencies too. What could not land before goes
// first, and what would be in the way of such a task at work waits until that is done: nobody loses twice over the same
// files. The caller holds mu.
func (r *run) due() []queued {
	var first, then []queued
	for _, c := range r.merges.waiting {
		switch {
		case r.plan.BlocksContested(c.job.index):
		case r.plan.IsContested(c.job.index):
			first = append(first, c)
		default:
			then = append(then, c)
		}
	}
	return append(first, then...)
}

// mergeBatch takes one step of the branch. What waits when the run is stopped stays open: the next run lands it.
func (r *run) mergeBatch(ctx context.Context, batch []queued) error {
	waiting := make([]engine.Proved, len(batch))
	for i := range batch {
		waiting[i] = batch[i].Proved
	}
	step, err := r.merges.merger.Join(ctx, waiting)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := r.intend(batch, step); err != nil {
		return err
	}
	if moved, err := r.merges.merger.Advance(ctx, step); err != nil || !moved {
		return err
	}
	for i, f := range step.Results {
		if err := r.close(batch[i].job, batch[i].Attempt, batch[i].record, f, batch[i].began); err != nil {
			return err
		}
	}
	r.withLock(func() {
		r.merges.waiting = slices.DeleteFunc(r.merges.waiting, func(w queued) bool {
			return slices.ContainsFunc(batch[:len(step.Results)], func(c queued) bool { return c.job.index == w.job.index })
		})
	})
	return nil
}

// intend records what is about to land, so that a run that finds the branch moved knows all about it. Who has changed
// nothing needs no such record.
func (r *run) intend(batch []queued, step engine.Step) error {
	var events []attempts.Event
	for i, f := range step.Results {
		if f.Outcome != attempts.Success || step.To == step.From && f.Head == batch[i].Attempt.Base {
			continue
		}
		ended := r.ended(batch[i].Attempt, f)
		events = append(events, attempts.Event{Type: attempts.TypeLanding, Task: batch[i].Attempt.Task.ID, Attempt: batch[i].Attempt.Number, Landing: &ended})
	}
	if len(events) == 0 {
		return nil
	}
	return r.store.Append(events...)
}
