package orchestrator

import (
	"context"
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
)

// openAttempt is an attempt that a killed run left open.
type openAttempt struct {
	task    string
	record  attempts.TaskRecord // without the open attempt
	attempt attempts.Attempt
}

func openAttemptsOf(o *Options, l *attempts.Ledger) []openAttempt {
	var found []openAttempt
	for i := range o.Graph.Len() {
		id := o.Graph.ID(i)
		rec := l.Tasks[id]
		if rec == nil || rec.Running() == nil {
			continue
		}
		found = append(found, openAttempt{task: id, attempt: *rec.Running()})
	}
	return found
}

func (r *run) openAttempts() []openAttempt {
	var found []openAttempt
	r.store.View(func(l *attempts.Ledger) { found = openAttemptsOf(r.o, l) })
	for i := range found {
		found[i].record = r.store.Task(found[i].task)
		found[i].record.Attempts = found[i].record.Attempts[:len(found[i].record.Attempts)-1]
	}
	return found
}

// recoverAll brings the attempts of a killed run to their end, one after the other: one whose agent had finished is judged by its
// evidence, the others are interrupted, uncharged, with their work kept.
func (r *run) recoverAll(ctx context.Context, orphans []openAttempt) error {
	for _, o := range orphans {
		if err := r.recoverTask(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// queueOpenAttempts has workers bring the attempts of a killed run to their end before they take new tasks, side by side. What these attempts
// met at their runners is not known yet: one new attempt asks a runner before all others do.
func (r *run) queueOpenAttempts(orphans []openAttempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range orphans {
		at, ok := r.o.Graph.Index(o.task)
		if !ok {
			continue
		}
		r.plan.Start(at)
		r.pool.Probe(o.attempt.Runner, r.instant())
		r.engine.Lifecycle.Reserve(engine.Attempt{Run: o.attempt.Run, Task: epic.Task{ID: o.task}, Number: o.attempt.ID})
		r.left = append(r.left, job{index: at, runner: o.attempt.Runner, adopt: func(ctx context.Context) error { return r.recoverTask(ctx, o) }})
	}
}

// recoverTask brings one attempt of a killed run to its end.
func (r *run) recoverTask(ctx context.Context, o openAttempt) error {
	task, ok := r.o.Epic.Task(o.task)
	if !ok {
		return nil
	}
	a := engine.Attempt{
		Run: o.attempt.Run, Task: *task, Number: o.attempt.ID, Base: o.attempt.Base,
		Runner: o.attempt.Runner, Model: o.attempt.Model, Wall: r.o.Limits.Wall, Ended: true,
	}
	a.EarlierFindings, a.ReviewProgress = earlierFindings(o.record), o.attempt.ReviewProgress
	a.Known = briefInput(r.o, r.store, task, wallFor(r.o.Limits, task))
	a.Known.Record = o.record
	if last, ok := schedule.Previous(o.record); ok && last.AwaitsReview() && !r.engine.Lifecycle.Asked(a) {
		a.Unfinished = last // this attempt began with its review
	}
	r.withLock(func() { a.Closed = r.pool.Closed(r.instant()) })
	if err := r.recoverAttempt(ctx, a, o); err != nil {
		return fmt.Errorf("recover %s: %w", o.task, err)
	}
	return nil
}

// recoverAttempt brings one attempt to its end, or to where it waits for its landing.
func (r *run) recoverAttempt(ctx context.Context, a engine.Attempt, o openAttempt) error {
	ended, err := r.engine.Lifecycle.Revive(ctx, a, o.attempt)
	if err != nil {
		return err
	}
	if ended != nil {
		return r.endLanded(a, o, ended)
	}
	f, err := r.engine.Run(ctx, a)
	if err != nil {
		return err
	}
	if r.merges != nil && f.Outcome == attempts.Success {
		at, _ := r.o.Graph.Index(o.task)
		r.enqueue(queued{Proved: engine.Proved{Attempt: a, Result: f}, job: job{index: at, runner: a.Runner}, record: o.record, began: r.ran()})
		return nil
	}
	return r.endRecovered(a, o, f)
}

// hasLanded records the end of an attempt whose work was on the integration branch when its run was killed.
func (r *run) endLanded(a engine.Attempt, o openAttempt, ended *attempts.Ended) error {
	err := r.store.AppendLater(attempts.Event{Type: attempts.TypeAttemptEnded, Task: o.task, Attempt: a.Number, Ended: ended})
	r.mu.Lock()
	defer r.mu.Unlock()
	if ended.Usage != nil {
		r.budget.End(o.task, *ended.Usage, false)
	}
	if r.plan != nil {
		at, _ := r.o.Graph.Index(o.task)
		r.plan.Complete(at)
		r.announce()
	}
	return err
}

// concludes records what an attempt of a killed run has come to.
func (r *run) endRecovered(a engine.Attempt, o openAttempt, f engine.Result) error {
	if r.plan != nil {
		at, _ := r.o.Graph.Index(o.task)
		return r.close(job{index: at, runner: a.Runner}, a, o.record, f, r.ran()-r.since(o.attempt.StartedAt))
	}
	e, _, err := r.record(a, o.record, f)
	if err != nil {
		return err
	}
	r.withLock(func() {
		r.budget.End(o.task, f.Usage, false)
		r.report(a, f, e, r.since(o.attempt.StartedAt))
	})
	return nil
}
