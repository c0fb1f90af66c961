package orchestrator

import (
	"context"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/worker"
)

// train is what waits to be landed, in the order it became ready.
type train struct {
	merger  engine.Merger
	waiting []car
}

// car is one attempt that waits, with what closing it needs.
type car struct {
	engine.Proved
	job    job
	record attempts.TaskRecord
	began  time.Duration // on the run's clock, as
	ready  time.Duration // is when it was proved
}

// board has a proved attempt wait for its landing; its worker is free. The task still counts as running.
func (n *night) board(c car) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.ready = n.ran()
	n.train.waiting = append(n.train.waiting, c)
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
func (n *night) landsSoon(i int, now time.Duration) (rest time.Duration) {
	if n.train == nil {
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

// landing lands what waits until nothing can come any more.
func (n *night) landing(ctx context.Context) error {
	for {
		cars, wait := n.cars(ctx)
		if wait != nil {
			wait.park(ctx, nil) // what is under way lands, also when nothing new is started
			continue
		}
		if cars == nil {
			return nil
		}
		if err := n.land(ctx, cars); err != nil {
			n.fail(err)
			return err
		}
	}
}

// cars returns what waits to be landed, or what to wait for, or neither when nothing will come.
func (n *night) cars(ctx context.Context) ([]car, *waiting) {
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
func (n *night) due() []car {
	var first, then []car
	for _, c := range n.train.waiting {
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

// land takes one step of the branch. What waits when the run is stopped stays open: the next run lands it.
func (n *night) land(ctx context.Context, cars []car) error {
	waiting := make([]engine.Proved, len(cars))
	for i := range cars {
		waiting[i] = cars[i].Proved
	}
	step, err := n.train.merger.Join(ctx, waiting)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if err := n.intend(cars, step); err != nil {
		return err
	}
	if moved, err := n.train.merger.Advance(ctx, step); err != nil || !moved {
		return err
	}
	for i, f := range step.Results {
		if err := n.close(cars[i].job, cars[i].Attempt, cars[i].record, f, cars[i].began); err != nil {
			return err
		}
	}
	n.locked(func() {
		n.train.waiting = slices.DeleteFunc(n.train.waiting, func(w car) bool {
			return slices.ContainsFunc(cars[:len(step.Results)], func(c car) bool { return c.job.index == w.job.index })
		})
	})
	return nil
}

// intend records what is about to land, so that a run that finds the branch moved knows all about it. Who has changed
// nothing needs no such record.
func (n *night) intend(cars []car, step engine.Step) error {
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
