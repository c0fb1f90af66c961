package orchestrator

import (
	"context"
	"errors"
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
	"relay/reanchor"
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

func (n *run) openAttempts() []openAttempt {
	var found []openAttempt
	n.store.View(func(l *attempts.Ledger) { found = openAttemptsOf(n.o, l) })
	for i := range found {
		found[i].record = n.store.Task(found[i].task)
		found[i].record.Attempts = found[i].record.Attempts[:len(found[i].record.Attempts)-1]
	}
	return found
}

// recoverAll brings the attempts of a killed run to their end, one after the other: one whose agent had finished is judged by its
// evidence, the others are interrupted, uncharged, with their work kept.
func (n *run) recoverAll(ctx context.Context, orphans []openAttempt) error {
	for _, o := range orphans {
		if err := n.recoverTask(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// queueOpenAttempts has workers bring the attempts of a killed run to their end before they take new tasks, side by side. What these attempts
// met at their runners is not known yet: one new attempt asks a runner before all others do.
func (n *run) queueOpenAttempts(orphans []openAttempt) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, o := range orphans {
		at, known := n.o.Graph.Index(o.task)
		if !known {
			continue
		}
		n.plan.Start(at)
		n.pool.Probe(o.attempt.Runner, n.instant())
		n.engine.Lifecycle.Reserve(engine.Attempt{Run: o.attempt.Run, Task: epic.Task{ID: o.task}, Number: o.attempt.ID})
		n.left = append(n.left, job{index: at, runner: o.attempt.Runner, adopt: func(ctx context.Context) error { return n.recoverTask(ctx, o) }})
	}
}

// recoverTask brings one attempt of a killed run to its end.
func (n *run) recoverTask(ctx context.Context, o openAttempt) error {
	task, ok := n.o.Epic.Task(o.task)
	if !ok {
		return nil
	}
	a := engine.Attempt{
		Run: o.attempt.Run, Task: *task, Number: o.attempt.ID, Base: o.attempt.Base,
		Runner: o.attempt.Runner, Model: o.attempt.Model, Wall: n.o.Limits.Wall, Ended: true,
	}
	a.EarlierFindings, a.Heard = earlierFindings(o.record), o.attempt.Heard
	a.Known = known(n.o, n.store, task, wallFor(n.o.Limits, task))
	a.Known.Record = o.record
	if last, ok := schedule.Previous(o.record); ok && last.AwaitsReview() && !n.engine.Lifecycle.Asked(a) {
		a.Unfinished = last // this attempt began with its review
	}
	n.withLock(func() { a.Closed = n.pool.Closed(n.instant()) })
	err := n.recoverAttempt(ctx, a, o)
	if err != nil && ctx.Err() == nil {
		err = n.giveUp(ctx, a, o, err)
	}
	if err != nil {
		return fmt.Errorf("recover %s: %w", o.task, err)
	}
	return nil
}

// giveUp gates a task whose attempt git cannot bring to its end: it would end every run, and the other tasks can go on.
func (n *run) giveUp(ctx context.Context, a engine.Attempt, o openAttempt, cause error) error {
	var said *reanchor.GitError
	if n.engine.Abandoner == nil || !errors.As(cause, &said) || said.Code < 0 { // git was stopped, or could not run
		return cause
	}
	r := engine.Result{Gate: attempts.Infrastructure}
	r.Fail(attempts.Environment, attempts.CLIError, "git cannot collect what the agent left: "+cause.Error())
	r, err := n.engine.Abandoner.Abandon(ctx, a, r)
	if err != nil {
		return errors.Join(cause, err)
	}
	return n.concludes(a, o, r)
}

// recoverAttempt brings one attempt to its end, or to where it waits for its landing.
func (n *run) recoverAttempt(ctx context.Context, a engine.Attempt, o openAttempt) error {
	ended, err := n.engine.Lifecycle.Revive(ctx, a, o.attempt)
	if err != nil {
		return err
	}
	if ended != nil {
		return n.hasLanded(a, o, ended)
	}
	f, err := n.engine.Run(ctx, a)
	if err != nil {
		return err
	}
	if n.merges != nil && f.Outcome == attempts.Success {
		at, _ := n.o.Graph.Index(o.task)
		n.enqueue(queued{Proved: engine.Proved{Attempt: a, Result: f}, job: job{index: at, runner: a.Runner}, record: o.record, began: n.ran()})
		return nil
	}
	return n.concludes(a, o, f)
}

// hasLanded records the end of an attempt whose work was on the integration branch when its run was killed.
func (n *run) hasLanded(a engine.Attempt, o openAttempt, ended *attempts.Ended) error {
	err := n.store.AppendLater(attempts.Event{Type: attempts.TypeAttemptEnded, Task: o.task, Attempt: a.Number, Ended: ended})
	n.mu.Lock()
	defer n.mu.Unlock()
	if ended.Usage != nil {
		n.budget.End(o.task, *ended.Usage, false)
	}
	if n.plan != nil {
		at, _ := n.o.Graph.Index(o.task)
		n.plan.Complete(at)
		n.announce()
	}
	return err
}

// concludes records what an attempt of a killed run has come to.
func (n *run) concludes(a engine.Attempt, o openAttempt, f engine.Result) error {
	if n.plan != nil {
		at, _ := n.o.Graph.Index(o.task)
		return n.close(job{index: at, runner: a.Runner}, a, o.record, f, n.ran()-n.since(o.attempt.StartedAt))
	}
	e, _, err := n.record(a, o.record, f)
	if err != nil {
		return err
	}
	n.withLock(func() {
		n.budget.End(o.task, f.Usage, false)
		n.report(a, f, e, n.since(o.attempt.StartedAt))
	})
	return nil
}
