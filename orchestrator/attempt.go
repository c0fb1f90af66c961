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
	"relay/orchestrator/text"
	"relay/review"
)

// attempt takes one task through one attempt: base, started, carried out, judged, ended. Only a failure of relay's
// own machine is an error; it ends the run.
func (n *run) attempt(ctx context.Context, j job) error {
	task := n.plan.Task(j.index)
	record := n.store.Task(task.ID)
	if gated, err := n.gateIfExhausted(j, task, record); gated {
		n.withLock(func() { n.pool.Release(task.ID) })
		return err
	}
	a := n.assign(task, record, j.runner)
	base, err := n.engine.Prepare(ctx, a)
	if err != nil {
		return n.unlessStopped(ctx, j, fmt.Errorf("prepare %s: %w", task.ID, err))
	}
	a.Base = base
	if err := n.begin(ctx, a, j.turn); err != nil {
		return err
	}
	began := n.ran()
	n.withLock(func() { n.tell(n.about(task, record, Update{Kind: UpdateStarted, Runner: a.Runner})) })
	f, err := n.runAttempt(ctx, a, record)
	if err != nil {
		// The attempt stays open: the next run finds what the agent left and brings it to its end.
		return fmt.Errorf("%s: %w", task.ID, err)
	}
	if n.merges != nil && f.Outcome == attempts.Success {
		n.withLock(func() { n.pool.Answered(a.Runner, task.ID, n.instant()) })
		n.enqueue(queued{Proved: engine.Proved{Attempt: a, Result: f}, job: j, record: record, began: began})
		return nil
	}
	return n.close(j, a, record, f, began)
}

// begin makes the start of an attempt durable, and its brief if the engine can. turn says why another runner has it
// than before, if one has.
func (n *run) begin(ctx context.Context, a engine.Attempt, turn string) error {
	var brief func()
	var failed error
	if n.engine.Briefer != nil {
		brief = func() { failed = n.engine.Briefer.Brief(ctx, a) }
	}
	events := []attempts.Event{{
		Type: attempts.TypeAttemptStarted, Task: a.Task.ID, Attempt: a.Number,
		Started: &attempts.Started{Runner: a.Runner, Model: a.Model, Base: a.Base, Sealed: seal(n.o.Epic, &a.Task)},
	}}
	if turn != "" {
		note := &attempts.Note{Kind: "switch", Text: a.Task.ID + " goes " + turn}
		events = []attempts.Event{{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: note}, events[0]}
		n.withLock(func() { n.tell(Update{Kind: UpdateNote, Task: a.Task.ID, Text: "goes " + turn}) })
	}
	err := n.store.AppendWhile(brief, events...)
	if err == nil && failed != nil && ctx.Err() == nil { // the attempt of a run that stops says so itself
		err = fmt.Errorf("%s: %w", a.Task.ID, failed)
	}
	return err
}

// unlessStopped forgives an error that a stopping run has caused itself.
func (n *run) unlessStopped(ctx context.Context, j job, err error) error {
	if ctx.Err() == nil {
		return err
	}
	n.withLock(func() {
		n.pool.Release(n.plan.Task(j.index).ID)
		n.plan.Requeue(j.index)
	})
	return nil
}

// assign says what the engine must know to carry the next attempt of a task out.
func (n *run) assign(task *epic.Task, record attempts.TaskRecord, runner string) engine.Attempt {
	model := text.FirstOf(task.Model, n.o.Model)
	wall := wallFor(n.o.Limits, task)
	a := engine.Attempt{Run: n.o.Run, Task: *task, Number: len(record.Attempts) + 1, Runner: runner, Model: model, Wall: wall}
	a.EarlierFindings = earlierFindings(record)
	if last, ok := schedule.Previous(record); ok {
		a.Unfinished = last
	}
	a.Known = known(n.o, n.store, task, wall)
	a.Known.Agent = n.o.agent(runner)
	n.withLock(func() {
		left := n.budget.Remaining(task, record.UsedSince())
		a.Known.BudgetUSD, a.Known.Tokens = left.USD, left.Tokens
		a.Closed = n.pool.Closed(n.instant())
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
func (n *run) close(j job, a engine.Attempt, record attempts.TaskRecord, f engine.Result, began time.Duration) error {
	ended, told, err := n.record(a, record, f)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.putOff(ended.Receipt.Review)
	n.consequences(j, a, f, ended)
	n.report(a, f, ended, n.ran()-began)
	n.announce()
	if err := n.checkLimits(j.index, a, f, ended); err != nil {
		return err
	}
	return n.countUncharged(f, ended, told)
}

// record writes how an attempt ended, with everything that follows from it in the same event.
func (n *run) record(a engine.Attempt, record attempts.TaskRecord, f engine.Result) (attempts.Ended, ruling, error) {
	ended := n.ended(a, f)
	ended.Charged = ended.Charged && !n.excused(a, ended)
	told := n.answered(a, f, ended)
	ended.Gate = n.gate(a, record, f, ended)
	if told.spent != "" && ended.Gate == nil {
		ended.Gate = &attempts.Gate{Reason: attempts.Infrastructure, Detail: told.spent, At: n.now().UTC()}
	}
	events := make([]attempts.Event, 0, 1+len(f.Notes))
	for i := range f.Notes {
		f.Notes[i].Text = n.redact.Block(f.Notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: &f.Notes[i]})
	}
	events = append(events, attempts.Event{Type: attempts.TypeAttemptEnded, Task: a.Task.ID, Attempt: a.Number, Ended: &ended})
	for _, cooldown := range told.cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Task: a.Task.ID, Attempt: a.Number, Cooldown: cooldown})
	}
	return ended, told, n.store.AppendLater(events...) // durable with the next start, before which nothing depends on it
}

// report tells the watcher what an attempt came to. The caller holds mu.
func (n *run) report(a engine.Attempt, f engine.Result, ended attempts.Ended, took time.Duration) {
	u := n.about(&a.Task, n.store.Task(a.Task.ID), Update{Runner: a.Runner, Text: ended.Receipt.ErrorSummary, Elapsed: took})
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
	n.tell(u)
	for _, note := range f.Notes {
		n.tell(Update{Kind: UpdateNote, Task: a.Task.ID, Text: note.Text})
	}
}

// ended is the finding in the ledger's words.
func (n *run) ended(a engine.Attempt, f engine.Result) attempts.Ended {
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
	}
	return n.redact.Ended(e)
}

// gate decides whether the task may be tried again.
func (n *run) gate(a engine.Attempt, record attempts.TaskRecord, f engine.Result, e attempts.Ended) *attempts.Gate {
	if f.Gate != "" {
		return &attempts.Gate{Reason: f.Gate, Detail: e.Receipt.ErrorSummary, At: n.now().UTC()}
	}
	if f.Held {
		return n.heldGate(a, e)
	}
	lim := attempts.Limits{MaxAttempts: attemptsFor(n.o.Limits, &a.Task), MaxUncharged: n.o.Limits.MaxUncharged}
	gate := attempts.GateAfter(record, e, lim)
	if gate == nil && e.Result != attempts.ResultSuccess {
		gate = n.taskBudgetGate(a, record, f)
	}
	if gate != nil && gate.At.IsZero() {
		gate.At = n.now().UTC()
	}
	return gate
}

// consequences moves the task on. The caller holds mu.
func (n *run) consequences(j job, a engine.Attempt, f engine.Result, e attempts.Ended) {
	switch {
	case e.Result == attempts.ResultSuccess:
		n.plan.Complete(j.index)
	case e.Gate != nil:
		n.plan.Gate(j.index)
	case f.Held:
		n.plan.Postpone(j.index)
	default:
		record := n.store.Task(a.Task.ID)
		if lacking := schedule.MissingReviewers(record); lacking != nil {
			n.plan.AwaitReview(j.index, lacking)
		} else {
			n.plan.Requeue(j.index)
		}
		if e.Outcome == attempts.Conflict {
			n.plan.AddContested(j.index, schedule.ContestedFiles(record))
		}
	}
	n.tally.Ended++
	n.tally.Usage.Add(f.Usage)
	n.budget.End(a.Task.ID, f.Usage, !a.Ended)
}

// about fills in which attempt of which task an update is about.
func (n *run) about(t *epic.Task, record attempts.TaskRecord, u Update) Update {
	u.Task, u.Title, u.Max = t.ID, t.Title, attemptsFor(n.o.Limits, t)
	u.Try = record.Charges()
	if u.Kind == UpdateStarted {
		u.Try++
	}
	return u
}

func (n *run) withLock(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}
