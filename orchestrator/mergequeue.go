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
func (n *run) enqueue(c queued) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.ready = n.ran()
	n.merges.waiting = append(n.merges.waiting, c)
	n.tell(Update{Kind: UpdateProved, Task: c.Attempt.Task.ID})
	if n.plan != nil {
		n.plan.AwaitLanding(c.job.index, c.Result.Receipt.FilesChanged)
	}
	n.announce()
}

// landingPatience is how long a worker waits for a landing rather than take a task that is less urgent than those that
// wait for it. Most landings are over in less, and a task begun in the meantime keeps the worker for many minutes.
const landingPatience = worker.SlowChecks

// landsSoon returns how long a free worker should rather wait than do task i, if at all: what lands next makes something
// ready that is more urgent. The caller holds mu.
func (n *run) landsSoon(i int, now time.Duration) (rest time.Duration) {
	if n.merges == nil {
		return 0
	}
	var soon []int
	for _, c := range n.due() {
		if patience := c.ready + landingPatience - now; patience > 0 {
			soon, rest = append(soon, c.job.index), patience
		}
	}
	if len(soon) == 0 || !n.plan.Unblocks(soon, i) {
		return 0
	}
	return rest
}

// runMergeQueue lands what waits until nothing can come any more.
func (n *run) runMergeQueue(ctx context.Context) error {
	for {
		cars, wait := n.nextBatch(ctx)
		if wait != nil {
			wait.wait(ctx, nil) // what is under way lands, also when nothing new is started
			continue
		}
		if cars == nil {
			return nil
		}
		if err := n.mergeBatch(ctx, cars); err != nil {
			n.fail(err)
			return err
		}
	}
}

// nextBatch returns what waits to be landed, or what to wait for, or neither when nothing will come.
func (n *run) nextBatch(ctx context.Context) ([]queued, *waiting) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if ctx.Err() != nil || n.broken != nil {
		return nil, nil
	}
	due := n.due()
	if len(due) > 0 || n.workers == 0 {
		return due, nil
	}
	return nil, &waiting{changed: n.changed}
}

// due is what can land now, in the order it became ready, which is one of dependencies too. What could not land before goes
// first, and what would be in the way of such a task at work waits until that is done: nobody loses twice over the same
// files. The caller holds mu.
func (n *run) due() []queued {
	var first, then []queued
	for _, c := range n.merges.waiting {
		switch {
		case n.plan.BlocksContested(c.job.index):
		case n.plan.IsContested(c.job.index):
			first = append(first, c)
		default:
			then = append(then, c)
		}
	}
	return append(first, then...)
}

// mergeBatch takes one step of the branch. What waits when the run is stopped stays open: the next run lands it.
func (n *run) mergeBatch(ctx context.Context, cars []queued) error {
	waiting := make([]engine.Proved, len(cars))
	for i := range cars {
		waiting[i] = cars[i].Proved
	}
	step, err := n.merges.merger.Join(ctx, waiting)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := n.intend(cars, step); err != nil {
		return err
	}
	if moved, err := n.merges.merger.Advance(ctx, step); err != nil || !moved {
		return err
	}
	for i, f := range step.Results {
		if err := n.close(cars[i].job, cars[i].Attempt, cars[i].record, f, cars[i].began); err != nil {
			return err
		}
	}
	n.withLock(func() {
		n.merges.waiting = slices.DeleteFunc(n.merges.waiting, func(w queued) bool {
			return slices.ContainsFunc(cars[:len(step.Results)], func(c queued) bool { return c.job.index == w.job.index })
		})
	})
	return nil
}

// intend records what is about to land, so that a run that finds the branch moved knows all about it. Who has changed
// nothing needs no such record.
func (n *run) intend(cars []queued, step engine.Step) error {
	var events []attempts.Event
	for i, f := range step.Results {
		if f.Outcome != attempts.Success || step.To == step.From && f.Head == cars[i].Attempt.Base {
			continue
		}
		ended := n.ended(cars[i].Attempt, f)
		events = append(events, attempts.Event{Type: attempts.TypeLanding, Task: cars[i].Attempt.Task.ID, Attempt: cars[i].Attempt.Number, Landing: &ended})
	}
	if len(events) == 0 {
		return nil
	}
	return n.store.Append(events...)
}
