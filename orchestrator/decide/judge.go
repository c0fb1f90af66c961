package decide

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/schedule"
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
	if index, ok := c.state.O.Graph.Index(a.Task.ID); ok && c.limits.breaker.Excuses(index, attempts.Cause(ended.Receipt)) {
		ended.Charged = false // it failed only for the cause that has opened the circuit breaker
	} else if ok && c.state.Plan != nil && verdict.MayLack(*ended) && c.state.Plan.Failures.IsEarly(index, c.state.Plan.CountRunning() > 1) {
		ended.Charged = false // what it lacks may be what the others make
	}
	rule := c.rule(now, a, f, *ended)
	ended.Gate = c.gate(now, record, EndedAttempt{Attempt: a, Result: f, Ended: *ended, Rule: rule})
	c.state.Step(now, ruledStep(attempts.StepRuled, a, f, c.state.Redact))
	return rule
}

// Report tells the watcher the end of an attempt. The caller holds Mu.
func (c *Judge) Report(a engine.Attempt, f engine.Result, ended attempts.Ended, took time.Duration) {
	record := c.state.store.Task(a.Task.ID)
	u := Update{
		Attempt: a.Number, Runner: a.Runner, Text: plaintext.FirstOf(f.Short, ended.Receipt.ErrorSummary), Elapsed: took, Usage: f.Usage,
		Looks: ended.Receipt.Looks, Questions: ended.Receipt.Questions,
	}
	u = c.state.O.About(&a.Task, record, u)
	switch after := verdict.Follow(f.Reported(), ended); {
	case after.Task == verdict.TaskCompleted:
		u.Kind, u.Text = Completed, ended.Receipt.Summary
		if ended.Receipt.AlreadyDone {
			u.Text = strings.TrimSuffix("it was done already: "+u.Text, ": ")
		} else if why := verdict.Unproved(ended.Receipt); why != "" && len(ended.Receipt.Checks) > 0 {
			u.Text = strings.TrimSuffix("unverified, as "+why+": "+u.Text, ": ")
		}
	case after.Stopped && c.stopped(a.Task.ID):
		u.Kind = Stopped
	case after.Task == verdict.TaskGated:
		detail := ended.Gate.Detail
		if failed := ended.Receipt.ErrorSummary; f.Short != "" && failed != "" {
			detail = strings.Replace(detail, failed, f.Short, 1)
		}
		gate := attempts.Gate{Reason: ended.Gate.Reason, Detail: plaintext.FirstOf(detail, u.Text)}
		u.Kind, u.Text = Gated, gate.Text()
	case ended.Charged:
		u.Kind, u.Spent = UpdateFailed, c.ExhaustedGate(&a.Task, record) != nil
	case after.Task == verdict.TaskPutOff:
		u.Kind = Held
	default:
		u.Kind = Retry
	}
	c.state.Notify(u)
	for _, note := range f.Notes {
		c.state.Notify(Update{Kind: Note, Task: a.Task.ID, Text: note.Text})
	}
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
		Model: plaintext.FirstOf(f.Model, a.Model), Session: f.Session, Receipt: f.Receipt,
		Changes: f.Changes, MoreChanges: f.MoreChanges, Tools: f.Tools,
		Cause: string(f.Cause), Evidence: f.Evidence.Record(c.state.Redact.Block),
	}
	if f.Usage != (attempts.Usage{}) {
		e.Usage = &f.Usage
	}
	if e.Result == attempts.ResultInterrupted {
		e.Seen = a.Seen
	}
	if !attempts.FailedSilently(e.Receipt.Checks) {
		e.Receipt.Change = ""
	}
	return c.state.Redact.Ended(e)
}

// gate returns the gate that an attempt's end puts on its task, or nil if the task may be tried again. record lacks that end. The
// caller holds Mu.
func (c *Judge) gate(now limits.Instant, record attempts.TaskRecord, o EndedAttempt) *attempts.Gate {
	task := &o.Attempt.Task
	standing := verdict.Standing{Record: record, NoRunner: o.Rule.spent}
	standing.Limits = verdict.Limits{MaxAttempts: c.state.O.Limits.AttemptsFor(task), MaxUncharged: c.state.O.Limits.MaxUncharged}
	used := record.UsedSince()
	used.Add(o.Result.Usage)
	if over := c.state.O.Budget.TaskExhausted(task, used); over != nil {
		standing.OverBudget = over.Error()
	}
	if c.state.Plan != nil {
		i, _ := c.state.O.Graph.Index(task.ID)
		standing.PutOff = o.Result.Held && c.state.Plan.WasPostponed(i)
		alone, _ := c.state.Plan.IsAlone(i)
		standing.MayChange, standing.Again = !alone || c.state.Plan.Failures.Moved(i), c.state.Plan.Failures.Again(i)
	}
	gate := verdict.GateOf(o.Result.Reported(), o.Ended, standing)
	if gate != nil && gate.At.IsZero() {
		gate.At = now.Day.UTC()
	}
	return gate
}

// advance moves the task and the counters on. The caller holds Mu.
func (c *Judge) advance(j Job, a engine.Attempt, f engine.Result, e attempts.Ended) {
	after, record := verdict.Follow(f.Reported(), e), c.state.store.Task(a.Task.ID)
	switch {
	case after.Task == verdict.TaskCompleted:
		c.state.Plan.Complete(j.Index)
		delete(c.state.Withheld, j.Index)
	case after.Task == verdict.TaskGated || c.state.Withheld[j.Index]:
		c.state.Plan.Gate(j.Index)
		if record.Gate != nil && record.Gate.Reason == attempts.AwaitsAnswer {
			c.state.asking[j.Index] = true
		}
	case after.Task == verdict.TaskPutOff:
		c.state.Plan.Postpone(j.Index)
	default:
		lacks := verdict.MayLack(e)
		switch lacking := schedule.MissingReviewers(record); {
		case lacking != nil:
			c.state.Plan.AwaitReview(j.Index, lacking)
		case e.Charged || lacks:
			c.state.Plan.SetBack(j.Index, lacks)
		default:
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

// ExhaustedGate returns the gate of a task that no agent may try: it has no budget or no attempts left, or needs a person; else nil.
func (c *Judge) ExhaustedGate(task *epic.Task, record attempts.TaskRecord) *attempts.Gate {
	if task.Kind == epic.KindPerson {
		return verdict.PersonGate(task.ID)
	}
	why := ""
	if over := c.state.O.Budget.TaskExhausted(task, record.UsedSince()); over != nil {
		why = over.Error()
	}
	i, ok := c.state.O.Graph.Index(task.ID)
	again := ok && c.state.Plan != nil && c.state.Plan.Failures.Again(i)
	return verdict.GateBefore(record, verdict.Limits{MaxAttempts: c.state.O.Limits.AttemptsFor(task)}, why, again)
}

// Refuse takes a task out of the run that is gated before its attempt begins. The caller holds Mu.
func (c *Judge) Refuse(index int) {
	task := c.state.Plan.Task(index).ID
	c.state.Step(c.state.Instant(), attempts.Step{Kind: attempts.StepRefused, Task: task})
	c.state.Plan.Gate(index)
	c.state.Pool.Release(task)
	if c.state.Plan.Task(index).Runner == "" {
		c.state.lastRunner = c.state.runnerBefore // none has begun it
	}
}

// DecideEpic tells the pool how the reviewers of the whole epic did, and returns what follows. The caller holds Mu.
func (c *Judge) DecideEpic(f engine.Result) Ruling {
	now, a := c.state.Instant(), engine.Attempt{Task: epic.Task{ID: engine.WholeEpic}}
	rule := c.rule(now, a, f, attempts.Ended{Receipt: f.Receipt})
	made := ruledStep(attempts.StepReviewed, a, f, c.state.Redact)
	made.Outcome = f.Outcome
	c.state.Step(now, made)
	return rule
}

// Found counts an attempt as landed. The caller holds Mu.
func (c *Judge) Found(a engine.Attempt, ended *attempts.Ended) {
	c.state.Step(c.state.Instant(), attempts.Step{Kind: attempts.StepFound, Task: a.Task.ID, Attempt: a.Number})
	if ended.Usage != nil {
		c.limits.Budget.End(a.Task.ID, *ended.Usage, false)
	}
	if c.state.Plan != nil {
		at, _ := c.state.O.Graph.Index(a.Task.ID)
		c.state.Plan.Complete(at)
		c.state.Announce()
	}
}

// Ruling is what follows from an attempt's end for its runner, its reviewers and its task.
type Ruling struct {
	Cooldown []*attempts.Cooldown // what later runs must know too
	repeat   bool                 // the runner's fault has been counted before
	spent    string               // why no runner is left for the task; "": one is
}

// rule tells the pool how an attempt's runner and reviewers did, and returns what follows. The caller holds Mu.
func (c *Judge) rule(now limits.Instant, a engine.Attempt, f engine.Result, e attempts.Ended) (rule Ruling) {
	task := a.Task.ID
	alone, last := c.isAlone(task)
	fail := func(name string, o attempts.Outcome, why string, resetAt time.Time) {
		fault := limits.RunnerFault{Outcome: o, Why: c.state.Redact.Block(why), ResetAt: resetAt, Alone: alone, Last: last}
		reviewer := c.state.Pool.Fail(name, task, fault, now)
		if reviewer.Cooldown != nil {
			rule.Cooldown = append(rule.Cooldown, reviewer.Cooldown)
		}
		rule.repeat = rule.repeat || reviewer.Repeat
		if reviewer.Barred {
			rule.spent = c.spentRunners(&a.Task, name, reviewer.Own, why)
		}
	}
	if e.Receipt.Review != nil {
		for _, s := range e.Receipt.Review.Opinions {
			if s.Reviewer != a.Runner {
				c.state.Pool.Answered(s.Reviewer, task, now)
			}
		}
	}
	reported := f.Reported()
	reported.Receipt = e.Receipt
	asked := verdict.Asked{Runner: a.Runner != "", OnlyReview: a.Previous.AwaitsReview(), Recovered: a.Ended}
	switch verdict.SignOf(reported, asked) {
	case verdict.RunnerFailed:
		fail(a.Runner, f.Outcome, e.Receipt.ErrorSummary, f.ResetAt)
	case verdict.RunnerAnswered:
		c.state.Pool.Answered(a.Runner, task, now)
	case verdict.RunnerSilent: // nothing follows for it
	}
	for _, reviewer := range f.Unable {
		fail(reviewer.Name, reviewer.Outcome, reviewer.Why, reviewer.ResetAt)
	}
	c.state.Pool.Release(task)
	return rule
}

// isAlone reports whether no task but this one is ready or under way, and whether none depends on it either. The caller holds
// mu.
func (c *Judge) isAlone(task string) (alone, last bool) {
	i, ok := c.state.O.Graph.Index(task)
	if !ok || c.state.Plan == nil || len(c.state.OpenJobs) > 0 {
		return false, false
	}
	return c.state.Plan.IsAlone(i)
}

// spentRunners returns why no runner is left for a task that a runner has failed alone too often; "" if one is. The caller holds
// mu.
func (c *Judge) spentRunners(task *epic.Task, name string, faults int, why string) string {
	failed, yes := c.state.Pool.Spent(task.ID, task.Runner)
	switch {
	case name == task.Runner || task.Runner == "" && slices.Contains(c.state.Pool.Order, name):
		if !yes {
			return ""
		}
	default:
		failed = fmt.Sprintf("reviewer %s failed %d times", name, faults)
	}
	return failed + " on this task alone, and served others; the last: " + why
}
