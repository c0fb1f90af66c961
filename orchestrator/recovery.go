package orchestrator

import (
	"context"
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
)

// recovery brings the attempts that a killed run left open to their end.
type recovery struct {
	state    *state
	limits   *limits
	recorder *recorder
	merges   *mergeQueue
}

// openAttempt is an attempt that a killed run left open.
type openAttempt struct {
	task    string
	record  attempts.TaskRecord // without the open attempt
	attempt attempts.Attempt
}

// openAttempts returns the attempts that a killed run left open, in the order of the plan.
func (v *recovery) openAttempts() (found []openAttempt) {
	for i := range v.state.o.Graph.Len() {
		id := v.state.o.Graph.ID(i)
		record := v.state.store.Task(id)
		open := record.Running()
		if open == nil {
			continue
		}
		record.Attempts = record.Attempts[:len(record.Attempts)-1]
		found = append(found, openAttempt{task: id, record: record, attempt: *open})
	}
	return found
}

// recoverAll brings the attempts of a killed run to their end, one after the other: one whose agent had finished is judged by
// its evidence, the others end as interrupted, uncharged, with their work kept.
func (v *recovery) recoverAll(ctx context.Context, open []openAttempt) error {
	for _, o := range open {
		if err := v.recoverTask(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// queueOpenAttempts gives the attempts of a killed run to the workers, before any new task. How their runners stand is not
// known, so one new attempt asks a runner before all others do.
func (v *recovery) queueOpenAttempts(open []openAttempt) {
	v.state.mu.Lock()
	defer v.state.mu.Unlock()
	for _, o := range v.reopen(open, v.state.instant()) {
		v.state.engine.Lifecycle.Reserve(engine.Attempt{Run: o.attempt.Run, Task: epic.Task{ID: o.task}, Number: o.attempt.ID})
	}
}

// reopen counts the attempts of a killed run as running, and returns those whose tasks are in the plan. The caller holds mu.
func (v *recovery) reopen(open []openAttempt, now clock.Instant) (reopened []openAttempt) {
	for _, o := range open {
		at, ok := v.state.o.Graph.Index(o.task)
		if !ok {
			continue
		}
		v.state.plan.Start(at)
		v.state.pool.Probe(o.attempt.Runner, now)
		recoverOpen := func(ctx context.Context) error { return v.recoverTask(ctx, o) }
		v.state.openJobs = append(v.state.openJobs, job{index: at, runner: o.attempt.Runner, recover: recoverOpen})
		reopened = append(reopened, o)
	}
	v.state.step(now, attempts.Step{Kind: attempts.StepReopened})
	return reopened
}

// nextOpen takes the next attempt of a killed run, or nil. It does so too when nothing new is started, as that work is paid for.
// The caller holds mu.
func (v *recovery) nextOpen(ctx context.Context, now clock.Instant) *job {
	if ctx.Err() != nil || v.state.broken != nil || len(v.state.openJobs) == 0 {
		return nil
	}
	first := v.state.openJobs[0]
	v.state.openJobs = v.state.openJobs[1:]
	v.state.step(now, attempts.Step{Kind: attempts.StepTaken, Task: v.state.plan.Task(first.index).ID})
	return &first
}

// over reports whether a person or a failure has ended the run, so that nothing more starts. The caller holds mu.
func (v *recovery) over(ctx context.Context, now clock.Instant) bool {
	over := ctx.Err() != nil || v.state.broken != nil || v.state.drained()
	if over && !v.state.steps.over {
		v.state.steps.over = true
		v.state.step(now, attempts.Step{Kind: attempts.StepOver})
	}
	return over
}

// recoverTask brings one attempt of a killed run to its end.
func (v *recovery) recoverTask(ctx context.Context, o openAttempt) error {
	task, ok := v.state.o.Epic.Task(o.task)
	if !ok {
		return nil
	}
	a := engine.Attempt{
		Run: o.attempt.Run, Task: *task, Number: o.attempt.ID, Base: o.attempt.Base,
		Runner: o.attempt.Runner, Model: o.attempt.Model, Wall: v.state.o.Limits.Wall, Ended: true,
	}
	a.EarlierFindings, a.ReviewProgress = earlierFindings(o.record), o.attempt.ReviewProgress
	a.BriefInput = v.state.briefInput(task)
	a.BriefInput.Record = o.record
	if last, ok := schedule.Previous(o.record); ok && last.AwaitsReview() && !v.state.engine.Lifecycle.Asked(a) {
		a.Previous = last // this attempt began with its review
	}
	v.state.withLock(func() { a.Closed = v.state.pool.Closed(v.state.instant()) })
	if err := v.recoverAttempt(ctx, a, o); err != nil {
		return fmt.Errorf("recover %s: %w", o.task, err)
	}
	return nil
}

// recoverAttempt brings one attempt to its end, or to where it waits for its landing.
func (v *recovery) recoverAttempt(ctx context.Context, a engine.Attempt, o openAttempt) error {
	ended, err := v.state.engine.Lifecycle.Resume(ctx, a, o.attempt)
	if err != nil {
		return err
	}
	if ended != nil {
		return v.recordLanded(a, o, ended)
	}
	f, err := v.state.engine.Run(ctx, a)
	if err != nil {
		return err
	}
	if v.merges != nil && f.Outcome == attempts.Success {
		at, _ := v.state.o.Graph.Index(o.task)
		verified := engine.Verified{Attempt: a, Result: f}
		work := queued{Verified: verified, job: job{index: at, runner: a.Runner}, record: o.record, began: v.state.ran()}
		v.state.withLock(func() { v.merges.enqueue(work, v.state.instant()) })
		return nil
	}
	return v.endRecovered(a, o, f)
}

// recordLanded records the end of an attempt whose work was on the integration branch when its run was killed.
func (v *recovery) recordLanded(a engine.Attempt, o openAttempt, ended *attempts.Ended) error {
	err := v.state.store.AppendLater(attempts.Event{Type: attempts.TypeAttemptEnded, Task: o.task, Attempt: a.Number, Ended: ended})
	v.state.mu.Lock()
	defer v.state.mu.Unlock()
	v.found(a, ended)
	return err
}

// found counts an attempt as landed. The caller holds mu.
func (v *recovery) found(a engine.Attempt, ended *attempts.Ended) {
	v.state.step(v.state.instant(), attempts.Step{Kind: attempts.StepFound, Task: a.Task.ID, Attempt: a.Number})
	if ended.Usage != nil {
		v.limits.budget.End(a.Task.ID, *ended.Usage, false)
	}
	if v.state.plan != nil {
		at, _ := v.state.o.Graph.Index(a.Task.ID)
		v.state.plan.Complete(at)
		v.state.announce()
	}
}

// endRecovered records how an attempt of a killed run ended.
func (v *recovery) endRecovered(a engine.Attempt, o openAttempt, f engine.Result) error {
	if v.state.plan != nil {
		at, _ := v.state.o.Graph.Index(o.task)
		return v.recorder.end(job{index: at, runner: a.Runner}, a, o.record, f, v.state.ran()-v.state.since(o.attempt.StartedAt))
	}
	e, _, err := v.recorder.record(a, o.record, f)
	if err != nil {
		return err
	}
	v.state.withLock(func() {
		v.state.step(v.state.instant(), attempts.Step{Kind: attempts.StepClosed, Task: o.task, Attempt: a.Number})
		v.limits.budget.End(o.task, f.Usage, false)
		v.recorder.report(a, f, e, v.state.since(o.attempt.StartedAt))
	})
	return nil
}
