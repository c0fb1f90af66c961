package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/epic/each"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// mergeQueue lands proved work, in the order it became ready.
type mergeQueue struct {
	state    *state
	recorder *recorder
	merger   engine.Merger
	queue    *decide.Queue
}

// land lands what waits until the workers have ended and nothing waits any more, or ctx ends.
func (q *mergeQueue) land(ctx context.Context) error {
	for {
		due, together, wait := q.nextBatch(ctx)
		if wait != nil {
			wait.Wait(ctx, nil) // what is under way lands, also when nothing new is started
			continue
		}
		if due == nil {
			return nil
		}
		if err := q.mergeBatch(ctx, due, together); err != nil {
			q.state.Fail(err)
			return err
		}
	}
}

// nextBatch returns what can land now and how many of the first are put together, or what to wait for, or nothing when no more will
// come.
func (q *mergeQueue) nextBatch(ctx context.Context) (due []decide.Queued, together int, wait *decide.Waiting) {
	q.state.Mu.Lock()
	defer q.state.Mu.Unlock()
	if ctx.Err() != nil || q.state.Broken != nil {
		return nil, 0, nil
	}
	if due, together = q.queue.Next(); len(due) > 0 || q.state.Workers == 0 {
		return due, together, nil
	}
	return nil, 0, &decide.Waiting{Changed: q.state.Changed}
}

// mergeBatch moves the branch one step. Work that still waits when the run is stopped stays open, and the next run lands it.
func (q *mergeQueue) mergeBatch(ctx context.Context, batch []decide.Queued, together int) error {
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
		if err := q.recorder.end(batch[i].Job, batch[i].Attempt, batch[i].Record, f, batch[i].Began); err != nil {
			return err
		}
	}
	q.state.WithLock(func() { q.queue.Remove(decide.TasksOf(batch[:len(step.Results)])) })
	return nil
}

// join makes the branch's next step of the first of what can land, that many together. Of those that fail their checks together,
// fewer are tried.
func (q *mergeQueue) join(ctx context.Context, due []decide.Queued, together int) (engine.Step, error) {
	group := each.Of(due[:together], func(q decide.Queued) engine.Verified { return q.Verified })
	for {
		step, err := q.merger.Join(ctx, group)
		red := step.Red
		if err != nil || ctx.Err() != nil || red < 2 {
			return step, err
		}
		q.state.WithLock(func() { group = group[:q.queue.Split(due, red)] })
	}
}

// intend records what is about to land, so that a run that is killed after the branch has moved can be continued. Attempts that
// changed nothing are left out.
func (q *mergeQueue) intend(batch []decide.Queued, step engine.Step) error {
	var events []attempts.Event
	for i, f := range step.Results {
		if !f.Succeeded() || step.To == step.From && f.Head == batch[i].Attempt.Base {
			continue
		}
		a := batch[i].Attempt
		ended := q.recorder.judge.EndedEvent(a, f)
		events = append(events, attempts.Event{Type: attempts.TypeLanding, Task: a.Task.ID, Attempt: a.Number, Landing: &ended})
	}
	if len(events) == 0 {
		return nil
	}
	return q.state.store.Append(q.state.CarrySteps(events...)...)
}
