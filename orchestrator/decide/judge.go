package decide

import (
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
	"relay/orchestrator/text"
	"relay/orchestrator/updates"
	"relay/orchestrator/verdict"
)

// Judge decides what the end of an attempt means, and moves the schedule on.
type Judge struct {
	state  *State
	limits *Limits
}

// EndedAttempt is an attempt that has ended, and what was decided of it.
type EndedAttempt struct {
	Attempt engine.Attempt
	Result  engine.Result
	Ended   attempts.Ended
	Rule    Ruling
	Took    time.Duration
}

// Settle moves the schedule on after an attempt's end and holds the end against the limits of the run. The caller holds Mu.
func (c *Judge) Settle(j Job, o EndedAttempt) error {
	now := c.state.Instant()
	c.state.Step(now, c.limits.settledStep(o.Attempt, o.Result.Usage))
	c.advance(j, o.Attempt, o.Result, o.Ended)
	c.Report(o.Attempt, o.Result, o.Ended, o.Took)
	delete(c.limits.stopping, o.Attempt.Task.ID)
	c.state.Announce()
	after := verdict.Follow(o.Result.Reported(), o.Ended)
	if err := c.limits.checkLimits(now, j.Index, o.Attempt, after, o.Ended); err != nil {
		return err
	}
	return c.limits.countUncharged(now, after, o.Ended, o.Rule)
}

// Decide fills in whether the task is charged and gated for an attempt's end, and returns what follows for runner and reviewers.
func (c *Judge) Decide(a engine.Attempt, record attempts.TaskRecord, f engine.Result, ended *attempts.Ended) Ruling {
	c.state.Mu.Lock()
	defer c.state.Mu.Unlock()
	now := c.state.Instant()
	ended.Charged = ended.Charged && !c.limits.excused(a, *ended)
	rule := c.rule(now, a, f, *ended)
	ended.Gate = c.gate(now, record, EndedAttempt{Attempt: a, Result: f, Ended: *ended, Rule: rule})
	c.state.Step(now, c.state.ruledStep(attempts.StepRuled, a, f))
	return rule
}

// Report tells the watcher the end of an attempt. The caller holds Mu.
func (c *Judge) Report(a engine.Attempt, f engine.Result, ended attempts.Ended, took time.Duration) {
	u := updates.Update{Runner: a.Runner, Text: text.FirstOf(f.Short, ended.Receipt.ErrorSummary), Elapsed: took, Usage: f.Usage}
	u = c.state.About(&a.Task, c.state.store.Task(a.Task.ID), u)
	switch after := verdict.Follow(f.Reported(), ended); {
	case after.Task == verdict.TaskCompleted:
		u.Kind, u.Text = updates.Completed, ended.Receipt.Summary
		if ended.Receipt.AlreadyDone {
			u.Text = strings.TrimSuffix("it was done already: "+u.Text, ": ")
		}
	case after.Stopped && c.stopped(a.Task.ID):
		u.Kind = updates.Stopped
	case after.Task == verdict.TaskGated:
		u.Kind, u.Text = updates.Gated, string(ended.Gate.Reason)+": "+text.FirstOf(inFewerWords(ended, f.Short), u.Text)
	case ended.Charged:
		u.Kind = updates.Failed
	case after.Task == verdict.TaskPutOff:
		u.Kind = updates.Held
	default:
		u.Kind = updates.Retry
	}
	c.state.Notify(u)
	for _, note := range f.Notes {
		c.state.Notify(updates.Update{Kind: updates.Note, Task: a.Task.ID, Text: note.Text})
	}
}

// inFewerWords returns why a task is gated, with what an attempt failed by in fewer words where there are any.
func inFewerWords(e attempts.Ended, short string) string {
	if short == "" || e.Receipt.ErrorSummary == "" {
		return e.Gate.Detail
	}
	return strings.Replace(e.Gate.Detail, e.Receipt.ErrorSummary, short, 1)
}

// stopped reports whether a person has stopped a task, and does not want it tried again. The caller holds Mu.
func (c *Judge) stopped(task string) bool {
	index, ok := c.state.O.Graph.Index(task)
	return ok && c.state.Withheld[index] && c.limits.stopping[task]
}

// EndedEvent returns the event of an attempt's end, without secrets.
func (c *Judge) EndedEvent(a engine.Attempt, f engine.Result) attempts.Ended {
	judged := verdict.End(f.Reported())
	e := attempts.Ended{
		Result: judged.Result, Outcome: f.Outcome, Charged: judged.Charged, Head: f.Head, Landed: f.Landed,
		Model: text.FirstOf(f.Model, a.Model), Session: f.Session, Receipt: f.Receipt,
		Changes: f.Changes, MoreChanges: f.MoreChanges, Tools: f.Tools,
		Cause: string(f.Cause), Evidence: f.Evidence.Record(c.state.Redact.Block),
	}
	e.Receipt.Doubtful = judged.Doubtful
	if f.Usage != (attempts.Usage{}) {
		e.Usage = &f.Usage
	}
	return c.state.Redact.Ended(e)
}

// gate returns the gate that an attempt's end puts on its task, or nil if the task may be tried again. record lacks that end. The
// caller holds Mu.
func (c *Judge) gate(now clock.Instant, record attempts.TaskRecord, o EndedAttempt) *attempts.Gate {
	task := &o.Attempt.Task
	standing := verdict.Standing{Record: record, NoRunner: o.Rule.spent}
	standing.Limits = verdict.Limits{MaxAttempts: c.state.O.Limits.AttemptsFor(task), MaxUncharged: c.state.O.Limits.MaxUncharged}
	used := record.UsedSince()
	used.Add(o.Result.Usage)
	if over := c.state.O.Budget.TaskExhausted(task, used); over != nil {
		standing.OverBudget = over.Error()
	}
	if o.Result.Held {
		i, ok := c.state.O.Graph.Index(task.ID)
		standing.PutOff = ok && c.state.Plan.WasPostponed(i)
	}
	gate := verdict.GateOf(o.Result.Reported(), o.Ended, standing)
	if gate != nil && gate.At.IsZero() {
		gate.At = now.Day.UTC()
	}
	return gate
}

// advance moves the task and the counters on. The caller holds Mu.
func (c *Judge) advance(j Job, a engine.Attempt, f engine.Result, e attempts.Ended) {
	after := verdict.Follow(f.Reported(), e)
	switch {
	case after.Task == verdict.TaskCompleted:
		c.state.Plan.Complete(j.Index)
		delete(c.state.Withheld, j.Index)
	case after.Task == verdict.TaskGated || c.state.Withheld[j.Index]:
		c.state.Plan.Gate(j.Index)
	case after.Task == verdict.TaskPutOff:
		c.state.Plan.Postpone(j.Index)
	default:
		record := c.state.store.Task(a.Task.ID)
		if lacking := schedule.MissingReviewers(record); lacking != nil {
			c.state.Plan.AwaitReview(j.Index, lacking)
		} else {
			c.state.Plan.Requeue(j.Index)
		}
		if after.Contested {
			c.state.Plan.AddContested(j.Index, schedule.ContestedFiles(record))
		}
	}
	c.state.Summary.Ended++
	c.state.Summary.Usage.Add(f.Usage)
	c.limits.Budget.End(a.Task.ID, f.Usage, !a.Ended)
}
