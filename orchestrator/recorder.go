package orchestrator

import (
	"time"

	"relay/attempts"
	"relay/orchestrator/deferred"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
	"relay/orchestrator/text"
	"relay/review"
)

// recorder writes how attempts end, with their charge and gate, and moves the schedule on.
type recorder struct {
	state  *state
	limits *limits
}

// end records how an attempt ended, moves the schedule on and holds the end against the limits of the run.
func (c *recorder) end(j job, a engine.Attempt, record attempts.TaskRecord, f engine.Result, began time.Duration) error {
	ended, rule, err := c.record(a, record, f)
	if err != nil {
		return err
	}
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	c.writeDeferredFile(ended.Receipt.Review)
	return c.settle(j, over{a, f, ended, rule, c.state.ran() - began})
}

// over is an attempt that has ended, and what was decided of it.
type over struct {
	attempt engine.Attempt
	result  engine.Result
	ended   attempts.Ended
	rule    runnerRuling
	took    time.Duration
}

// settle moves the schedule on after an attempt's end and holds the end against the limits of the run. The caller holds mu.
func (c *recorder) settle(j job, o over) error {
	now := c.state.instant()
	c.state.step(now, c.limits.settledStep(o.attempt, o.result.Usage))
	c.advance(j, o.attempt, o.result, o.ended)
	c.report(o.attempt, o.result, o.ended, o.took)
	c.state.announce()
	if err := c.limits.checkLimits(now, j.index, o.attempt, o.result, o.ended); err != nil {
		return err
	}
	return c.limits.countUncharged(now, o.result, o.ended, o.rule)
}

// record writes the end of an attempt with its charge, gate and notes, and the cooldowns that follow from it, in one append.
func (c *recorder) record(a engine.Attempt, record attempts.TaskRecord, f engine.Result) (attempts.Ended, runnerRuling, error) {
	ended := c.endedEvent(a, f)
	rule := c.judge(a, record, f, &ended)
	events := make([]attempts.Event, 0, 1+len(f.Notes))
	for i := range f.Notes {
		f.Notes[i].Text = c.state.redact.Block(f.Notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: &f.Notes[i]})
	}
	events = append(events, attempts.Event{Type: attempts.TypeAttemptEnded, Task: a.Task.ID, Attempt: a.Number, Ended: &ended})
	for _, cooldown := range rule.cooldown {
		events = append(events, attempts.Event{Type: attempts.TypeCooldown, Task: a.Task.ID, Attempt: a.Number, Cooldown: cooldown})
	}
	c.state.carrySteps(events)
	return ended, rule, c.state.store.AppendLater(events...) // durable with the next start, before which nothing depends on it
}

// judge fills in whether the task is charged and gated for an attempt's end, and returns what follows for runner and reviewers.
func (c *recorder) judge(a engine.Attempt, record attempts.TaskRecord, f engine.Result, ended *attempts.Ended) runnerRuling {
	c.state.mu.Lock()
	defer c.state.mu.Unlock()
	now := c.state.instant()
	ended.Charged = ended.Charged && !c.limits.excused(a, *ended)
	rule := c.rule(now, a, f, *ended)
	ended.Gate = c.gate(a, record, f, *ended)
	if rule.spent != "" && ended.Gate == nil {
		ended.Gate = &attempts.Gate{Reason: attempts.Infrastructure, Detail: rule.spent, At: now.Day.UTC()}
	}
	c.state.step(now, c.state.ruledStep(attempts.StepRuled, a, f))
	return rule
}

// report tells the watcher the end of an attempt. The caller holds mu.
func (c *recorder) report(a engine.Attempt, f engine.Result, ended attempts.Ended, took time.Duration) {
	u := c.state.about(&a.Task, c.state.store.Task(a.Task.ID), Update{Runner: a.Runner, Text: ended.Receipt.ErrorSummary, Elapsed: took})
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
	c.state.notify(u)
	for _, note := range f.Notes {
		c.state.notify(Update{Kind: UpdateNote, Task: a.Task.ID, Text: note.Text})
	}
}

// endedEvent returns the event of an attempt's end, without secrets.
func (c *recorder) endedEvent(a engine.Attempt, f engine.Result) attempts.Ended {
	e := attempts.Ended{
		Result: attempts.ResultFailure, Outcome: f.Outcome, Charged: f.Charged || f.Outcome.Charged(), Head: f.Head, Landed: f.Landed,
		Model: text.FirstOf(f.Model, a.Model), Session: f.Session, Receipt: f.Receipt,
		Changes: f.Changes, MoreChanges: f.MoreChanges, Tools: f.Tools,
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
	return c.state.redact.Ended(e)
}

// gate returns the gate that an attempt's end puts on its task, or nil if the task may be tried again.
func (c *recorder) gate(a engine.Attempt, record attempts.TaskRecord, f engine.Result, e attempts.Ended) *attempts.Gate {
	if f.Gate != "" {
		return &attempts.Gate{Reason: f.Gate, Detail: e.Receipt.ErrorSummary, At: c.state.now().UTC()}
	}
	if f.Held {
		return c.heldGate(a, e)
	}
	lim := attempts.Limits{MaxAttempts: c.state.o.Limits.AttemptsFor(&a.Task), MaxUncharged: c.state.o.Limits.MaxUncharged}
	gate := attempts.GateAfter(record, e, lim)
	if gate == nil && e.Result != attempts.ResultSuccess {
		gate = c.taskBudgetGate(a, record, f)
	}
	if gate != nil && gate.At.IsZero() {
		gate.At = c.state.now().UTC()
	}
	return gate
}

// heldGate gates a task that was put off before and still cannot be done now that nothing else is left; else it returns nil. The
// caller holds mu.
func (c *recorder) heldGate(a engine.Attempt, e attempts.Ended) *attempts.Gate {
	if i, ok := c.state.o.Graph.Index(a.Task.ID); !ok || !c.state.plan.WasPostponed(i) {
		return nil
	}
	return &attempts.Gate{Reason: attempts.Infrastructure, Detail: e.Receipt.ErrorSummary, At: c.state.now().UTC()}
}

// taskBudgetGate returns a gate if an attempt has exhausted the task's budget, else nil.
func (c *recorder) taskBudgetGate(a engine.Attempt, record attempts.TaskRecord, f engine.Result) *attempts.Gate {
	used := record.UsedSince()
	used.Add(f.Usage)
	if over := c.state.o.Budget.TaskExhausted(&a.Task, used); over != nil {
		return &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	return nil
}

// advance moves the task and the counters on. The caller holds mu.
func (c *recorder) advance(j job, a engine.Attempt, f engine.Result, e attempts.Ended) {
	switch {
	case e.Result == attempts.ResultSuccess:
		c.state.plan.Complete(j.index)
	case e.Gate != nil:
		c.state.plan.Gate(j.index)
	case f.Held:
		c.state.plan.Postpone(j.index)
	default:
		record := c.state.store.Task(a.Task.ID)
		if lacking := schedule.MissingReviewers(record); lacking != nil {
			c.state.plan.AwaitReview(j.index, lacking)
		} else {
			c.state.plan.Requeue(j.index)
		}
		if e.Outcome == attempts.Conflict {
			c.state.plan.AddContested(j.index, schedule.ContestedFiles(record))
		}
	}
	c.state.summary.Ended++
	c.state.summary.Usage.Add(f.Usage)
	c.limits.budget.End(a.Task.ID, f.Usage, !a.Ended)
}

// writeDeferredFile writes deferred.File anew if an attempt has deferred findings. It tells a failure and no more: the ledger has
// all of them. The caller holds mu, as two attempts that end at once write one file.
func (c *recorder) writeDeferredFile(reviewed *attempts.Reviewed) {
	if reviewed == nil || len(reviewed.Deferred)+len(reviewed.Noted) == 0 {
		return
	}
	var lines []byte
	c.state.store.View(func(l *attempts.Ledger) { lines = deferred.Lines(l) })
	if err := deferred.Write(c.state.o.Dir, lines); err != nil {
		c.state.notify(Update{Kind: UpdateNote, Text: deferred.File + " could not be written: " + err.Error()})
	}
}
