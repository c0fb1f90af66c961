package orchestrator

import (
	"context"
	"fmt"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/verdict"
)

// recovery brings the attempts that a killed run left open to their end.
type recovery struct {
	state      *state
	limits     *decide.Limits
	dispatcher *decide.Dispatcher
	recorder   *recorder
	merges     *mergeQueue
}

// recoverAll brings the attempts of a killed run to their end, one after the other: one whose agent had finished is judged by
// its evidence, the others end as interrupted, uncharged, with their work kept.
func (v *recovery) recoverAll(ctx context.Context, open []decide.OpenAttempt) error {
	for _, o := range open {
		if err := v.recoverTask(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// queueOpenAttempts gives the attempts of a killed run to the workers, before any new task. How their runners stand is not
// known, so one new attempt asks a runner before all others do.
func (v *recovery) queueOpenAttempts(open []decide.OpenAttempt) {
	v.state.Mu.Lock()
	defer v.state.Mu.Unlock()
	for _, o := range v.dispatcher.Reopen(open, v.state.Instant()) {
		v.state.engine.Lifecycle.Reserve(engine.Attempt{Run: o.Attempt.Run, Task: epic.Task{ID: o.Task}, Number: o.Attempt.ID})
	}
}

// recoverTask brings one attempt of a killed run to its end.
func (v *recovery) recoverTask(ctx context.Context, o decide.OpenAttempt) error {
	task, ok := v.state.o.Epic.Task(o.Task)
	if !ok {
		return nil
	}
	a := engine.Attempt{
		Run: o.Attempt.Run, Task: *task, Number: o.Attempt.ID, Base: o.Attempt.Base,
		Runner: o.Attempt.Runner, Model: o.Attempt.Model, Wall: v.state.o.Limits.Wall, Ended: true,
	}
	if a.Seen = relayfiles.Of(v.state.o.Dir, a).LastSeen().UTC(); a.Seen.Before(o.Attempt.StartedAt) {
		a.Seen = o.Attempt.StartedAt
	}
	continueSession(&a, o.Record)
	a.EarlierFindings, a.ReviewProgress = earlierFindings(o.Record), o.Record.ReviewProgress
	a.BriefInput = briefInput(v.state, task)
	a.BriefInput.Record = o.Record
	if last, ok := verdict.Previous(o.Record); ok && last.AwaitsReview() && !v.state.engine.Lifecycle.Asked(a) {
		a.Previous = last // this attempt began with its review
	}
	v.state.WithLock(func() { a.Closed = v.state.Pool.Closed(v.state.Instant()) })
	if err := v.recoverAttempt(ctx, a, o); err != nil {
		return fmt.Errorf("recover %s: %w", o.Task, err)
	}
	return nil
}

// recoverAttempt brings one attempt to its end, or to where it waits for its landing.
func (v *recovery) recoverAttempt(ctx context.Context, a engine.Attempt, o decide.OpenAttempt) error {
	ended, err := v.state.engine.Lifecycle.Resume(ctx, a, o.Attempt)
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
	if v.merges != nil && f.Succeeded() {
		at, _ := v.state.o.Graph.Index(o.Task)
		verified := engine.Verified{Attempt: a, Result: f}
		work := decide.Queued{Verified: verified, Job: decide.Job{Index: at, Runner: a.Runner}, Record: o.Record, Began: v.state.Ran()}
		v.state.WithLock(func() { v.merges.queue.Enqueue(work, v.state.Instant()) })
		return nil
	}
	return v.endRecovered(a, o, f)
}

// recordLanded records the end of an attempt whose work was on the integration branch when its run was killed.
func (v *recovery) recordLanded(a engine.Attempt, o decide.OpenAttempt, ended *attempts.Ended) error {
	err := v.state.store.AppendLater(attempts.Event{Type: attempts.TypeAttemptEnded, Task: o.Task, Attempt: a.Number, Ended: ended})
	v.state.Mu.Lock()
	defer v.state.Mu.Unlock()
	v.recorder.judge.Found(a, ended)
	return err
}

// endRecovered records how an attempt of a killed run ended.
func (v *recovery) endRecovered(a engine.Attempt, o decide.OpenAttempt, f engine.Result) error {
	if v.state.Plan != nil {
		at, _ := v.state.o.Graph.Index(o.Task)
		return v.recorder.end(decide.Job{Index: at, Runner: a.Runner}, a, o.Record, f, v.state.Ran()-since(v.state, o.Attempt.StartedAt))
	}
	e, _, err := v.recorder.record(a, o.Record, f)
	if err != nil {
		return err
	}
	v.state.WithLock(func() {
		v.state.Step(v.state.Instant(), attempts.Step{Kind: attempts.StepClosed, Task: o.Task, Attempt: a.Number})
		v.limits.Budget.End(o.Task, f.Usage, false)
		v.recorder.judge.Report(a, f, e, since(v.state, o.Attempt.StartedAt))
	})
	return nil
}

// since returns how long ago a time of an earlier run was, at least 0: that run's clock may have been wrong.
func since(s *state, day time.Time) time.Duration { return max(0, s.Now().Sub(day)) }
