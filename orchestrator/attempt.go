package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
	"relay/orchestrator/seal"
	"relay/orchestrator/text"
	"relay/review"
)

// attempt takes one task through one attempt: base, started, carried out, judged, ended. Only a failure of relay's
// own machine is an error; it ends the run.
func (r *run) attempt(ctx context.Context, j job) error {
	task := r.plan.Task(j.index)
	record := r.store.Task(task.ID)
	if gated, err := r.gateIfExhausted(j, task, record); gated {
		r.withLock(func() { r.pool.Release(task.ID) })
		return err
	}
	a := r.assign(task, record, j.runner)
	base, err := r.engine.Prepare(ctx, a)
	if err != nil {
		return r.unlessStopped(ctx, j, fmt.Errorf("prepare %s: %w", task.ID, err))
	}
	a.Base = base
	if err := r.begin(ctx, a, j.turn); err != nil {
		return err
	}
	began := r.ran()
	r.withLock(func() { r.tell(r.about(task, record, Update{Kind: UpdateStarted, Runner: a.Runner})) })
	f, err := r.runAttempt(ctx, a, record)
	if err != nil {
		// The attempt stays open: the next run finds what the agent left and brings it to its end.
		return fmt.Errorf("%s: %w", task.ID, err)
	}
	if r.merges != nil && f.Outcome == attempts.Success {
		r.withLock(func() { r.pool.Answered(a.Runner, task.ID, r.instant()) })
		r.enqueue(queued{Proved: engine.Proved{Attempt: a, Result: f}, job: j, record: record, began: began})
		return nil
	}
	return r.close(j, a, record, f, began)
}

// begin makes the start of an attempt durable, and its brief if the engine can. turn says why another runner has it
// than before, if one has.
func (r *run) begin(ctx context.Context, a engine.Attempt, turn string) error {
	var brief func()
	var failed error
	if r.engine.Briefer != nil {
		brief = func() { failed = r.engine.Briefer.Brief(ctx, a) }
	}
	events := []attempts.Event{{
		Type: attempts.TypeAttemptStarted, Task: a.Task.ID, Attempt: a.Number,
		Started: &attempts.Started{Runner: a.Runner, Model: a.Model, Base: a.Base, Sealed: seal.Task(r.o.Epic, &a.Task)},
	}}
	if turn != "" {
		note := &attempts.Note{Kind: "switch", Text: a.Task.ID + " goes " + turn}
		events = []attempts.Event{{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: note}, events[0]}
		r.withLock(func() { r.tell(Update{Kind: UpdateNote, Task: a.Task.ID, Text: "goes " + turn}) })
	}
	err := r.store.AppendWhile(brief, events...)
	if err == nil && failed != nil && ctx.Err() == nil { // the attempt of a run that stops says so itself
		err = fmt.Errorf("%s: %w", a.Task.ID, failed)
	}
	return err
}

// unlessStopped forgives an error that a stopping run has caused itself.
func (r *run) unlessStopped(ctx context.Context, j job, err error) error {
	if ctx.Err() == nil {
		return err
	}
	r.withLock(func() {
		r.pool.Release(r.plan.Task(j.index).ID)
		r.plan.Requeue(j.index)
	})
	return nil
}

// assign says what the engine must know to carry the next attempt of a task out.
func (r *run) assign(task *epic.Task, record attempts.TaskRecord, runner string) engine.Attempt {
	model := text.FirstOf(task.Model, r.o.Model)
	wall := wallFor(r.o.Limits, task)
	a := engine.Attempt{Run: r.o.Run, Task: *task, Number: len(record.Attempts) + 1, Runner: runner, Model: model, Wall: wall}
	a.EarlierFindings = earlierFindings(record)
	if last, ok := schedule.Previous(record); ok {
		a.Unfinished = last
	}
	a.Known = briefInput(r.o, r.store, task, wall)
	a.Known.Agent = r.o.agent(runner)
	r.withLock(func() {
		left := r.budget.Remaining(task, record.UsedSince())
		a.Known.BudgetUSD, a.Known.Tokens = left.USD, left.Tokens
		a.Closed = r.pool.Closed(r.instant())
	})
	return a
}

// earlierFindings is what a reviewer last said of the task.
func earlierFindings(record attempts.TaskRecord) string {
	for _, a := range slices.Backward(record.Attempts) {
		if a.Receipt.Verdict != "" {
			return a.Receipt.Findings
		}
	}
	return ""
}

// close records how an attempt ended and acts on it.
func (r *run) close(j job, a engine.Attempt, record attempts.TaskRecord, f engine.Result, began time.Duration) error {
	ended, rule, err := r.record(a, record, f)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writeDeferredFile(ended.Receipt.Review)
	r.consequences(j, a, f, ended)
	r.report(a, f, ended, r.ran()-began)
	r.announce()
	if err := r.checkLimits(j.index, a, f, ended); err != nil {
		return err
	}
	return r.countUncharged(f, ended, rule)
}

// record writes how an attempt ended, with everything that follows from it in the same event.
func (r *run) record(a engine.Attempt, record attempts.TaskRecord, f engine.Result) (attempts.Ended, ruling, error) {
	ended := r.ended(a, f)
	ended.Charged = ended.Charged && !r.excused(a, ended)
	rule := r.answered(a, f, ended)
	ended.Gate = r.gate(a, record, f, ended)
	if rule.spent != "" && ended.Gate == nil {
		ended.Gate = &attempts.Gate{Reason: attempts.Infrastructure, Detail: rule.spent, At: r.now().UTC()}
	}
	events := make([]attempts.Event, 0, 1+len(f.Notes))
	for i := range f.Notes {
		f.Notes[i].Text = r.redact.Block(f.Notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: &f.Notes[i]})
	}
	events = append(events, attempts.Event{Type: attempts.TypeAttemptEnded, Task: a.Task.ID, Attempt: a.Number, Ended: &ended})
	for _, cooldown := range rule.cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Task: a.Task.ID, Attempt: a.Number, Cooldown: cooldown})
	}
	return ended, rule, r.store.AppendLater(events...) // durable with the next start, before which nothing depends on it
}

// report tells the watcher what an attempt came to. The caller holds mu.
func (r *run) report(a engine.Attempt, f engine.Result, ended attempts.Ended, took time.Duration) {
	u := r.about(&a.Task, r.store.Task(a.Task.ID), Update{Runner: a.Runner, Text: ended.Receipt.ErrorSummary, Elapsed: took})
	switch {
	case ended.Result == attempts.ResultSuccess:
		u.Kind, u.Text = UpdateCompleted, ended.Receipt.Summary
		if ended.Receipt.AlreadyDone {
			u.Text = "it was done already: " + u.Text
		}
	case ended.Gate != nil:
		u.Kind, u.Text = UpdateGated, string(ended.Gate.Reason)+": "+text.FirstOf(ended.Gate.Detail, u.Text)
	case ended.Charged:
		u.Kind = UpdateFailed
	case f.Held:
		u.Kind = UpdateHeld
	default:
		u.Kind = UpdateRetry
	}
	r.tell(u)
	for _, note := range f.Notes {
		r.tell(Update{Kind: UpdateNote, Task: a.Task.ID, Text: note.Text})
	}
}

// ended is the finding in the ledger's words.
func (r *run) ended(a engine.Attempt, f engine.Result) attempts.Ended {
	e := attempts.Ended{
		Result: attempts.ResultFailure, Outcome: f.Outcome, Charged: f.Charged || f.Outcome.Charged(), Head: f.Head, Landed: f.Landed,
		Model: text.FirstOf(f.Model, a.Model), Session: f.Session, Receipt: f.Receipt,
	}
	if f.Usage != (attempts.Usage{}) {
		e.Usage = &f.Usage
	}
	switch f.Outcome {
	case attempts.Success:
		e.Result = attempts.ResultSuccess
		e.Receipt.Doubtful = f.Doubtful && f.Receipt.Verdict != review.Approved
	case attempts.Stopped:
		e.Result = attempts.ResultInterrupted
	default: // it stays a failure
	}
	return r.redact.Ended(e)
}

// gate decides whether the task may be tried again.
func (r *run) gate(a engine.Attempt, record attempts.TaskRecord, f engine.Result, e attempts.Ended) *attempts.Gate {
	if f.Gate != "" {
		return &attempts.Gate{Reason: f.Gate, Detail: e.Receipt.ErrorSummary, At: r.now().UTC()}
	}
	if f.Held {
		return r.heldGate(a, e)
	}
	lim := attempts.Limits{MaxAttempts: attemptsFor(r.o.Limits, &a.Task), MaxUncharged: r.o.Limits.MaxUncharged}
	gate := attempts.GateAfter(record, e, lim)
	if gate == nil && e.Result != attempts.ResultSuccess {
		gate = r.taskBudgetGate(a, record, f)
	}
	if gate != nil && gate.At.IsZero() {
		gate.At = r.now().UTC()
	}
	return gate
}

// consequences moves the task on. The caller holds mu.
func (r *run) consequences(j job, a engine.Attempt, f engine.Result, e attempts.Ended) {
	switch {
	case e.Result == attempts.ResultSuccess:
		r.plan.Complete(j.index)
	case e.Gate != nil:
		r.plan.Gate(j.index)
	case f.Held:
		r.plan.Postpone(j.index)
	default:
		record := r.store.Task(a.Task.ID)
		if lacking := schedule.MissingReviewers(record); lacking != nil {
			r.plan.AwaitReview(j.index, lacking)
		} else {
			r.plan.Requeue(j.index)
		}
		if e.Outcome == attempts.Conflict {
			r.plan.AddContested(j.index, schedule.ContestedFiles(record))
		}
	}
	r.tally.Ended++
	r.tally.Usage.Add(f.Usage)
	r.budget.End(a.Task.ID, f.Usage, !a.Ended)
}

// about fills in which attempt of which task an update is about.
func (r *run) about(t *epic.Task, record attempts.TaskRecord, u Update) Update {
	u.Task, u.Title, u.Max = t.ID, t.Title, attemptsFor(r.o.Limits, t)
	u.Try = record.Charges()
	if u.Kind == UpdateStarted {
		u.Try++
	}
	return u
}

func (r *run) withLock(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}
