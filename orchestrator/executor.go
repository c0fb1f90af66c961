package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/verdict"
	"relay/runners"
	"relay/runners/kinds"

	"github.com/google/uuid"
)

// executor takes attempts from their base commit to their result.
type executor struct {
	state    *state
	limits   *decide.Limits
	recorder *recorder
	merges   *mergeQueue
}

// carryOut takes a task through one attempt: prepare, record the start, run, record the end or queue the work for merging. It
// returns an error only if relay's own machine fails; that ends the run.
func (x *executor) carryOut(ctx context.Context, j decide.Job) error {
	task := x.state.Plan.Task(j.Index)
	record := x.state.store.Task(task.ID)
	if gated, err := x.gateIfExhausted(j, task, record); gated {
		return err
	}
	a := x.assign(task, record, j.Runner)
	base, err := x.state.engine.Prepare(ctx, a)
	if err != nil {
		return x.unlessStopped(ctx, j, fmt.Errorf("prepare %s: %w", task.ID, err))
	}
	a.Base = base
	if err := x.recordStart(a, j.SwitchReason); err != nil {
		return err
	}
	began := x.state.Ran()
	x.state.WithLock(func() {
		x.state.Notify(x.state.O.About(task, record, decide.Update{Kind: decide.Started, Attempt: a.Number, Runner: a.Runner}))
	})
	f, err := x.runAttempt(ctx, a, record)
	if err != nil {
		// The attempt stays open: the next run finds what the agent left and brings it to its end.
		return fmt.Errorf("%s: %w", task.ID, err)
	}
	if x.merges != nil && f.Succeeded() {
		work := decide.Queued{Verified: engine.Verified{Attempt: a, Result: f}, Job: j, Record: record, Began: began}
		x.state.WithLock(func() {
			now := x.state.Instant()
			x.state.Pool.Answered(a.Runner, task.ID, now)
			x.merges.queue.Enqueue(work, now)
		})
		return nil
	}
	return x.recorder.end(j, a, record, f, began)
}

// recordStart writes the event attempt_started. switchReason says why another runner has the task than before; "" if it is the same.
func (x *executor) recordStart(a engine.Attempt, switchReason string) error {
	started := x.started(a)
	var events []attempts.Event
	if switchReason != "" {
		note := &attempts.Note{Kind: "switch", Text: a.Task.ID + " goes " + switchReason}
		events = []attempts.Event{{Type: attempts.TypeNote, Task: a.Task.ID, Attempt: a.Number, Note: note}}
		x.state.WithLock(func() {
			x.state.Notify(decide.Update{Kind: decide.Note, Task: a.Task.ID, Text: "goes " + switchReason})
		})
	}
	events = append(events, attempts.Event{Type: attempts.TypeAttemptStarted, Task: a.Task.ID, Attempt: a.Number, Started: &started})
	return x.state.store.Append(x.state.CarrySteps(events...)...)
}

// started returns what is recorded of an attempt that begins. Where a slot is, the event of its brief says.
func (x *executor) started(a engine.Attempt) attempts.Started {
	s := attempts.Started{
		Runner: a.Runner, Model: a.Model, Base: a.Base, Sealed: SealTask(x.state.o.Epic, &a.Task),
		Session: plaintext.FirstOf(a.Session, a.NewSession),
	}
	if x.state.o.CLIOf != nil {
		s.CLI, s.Version = x.state.o.CLIOf(a.Runner)
	}
	s.Outside = x.state.o.Outside != nil && x.state.o.Outside(a.Runner)
	if x.state.o.Isolation != engine.IsolationWorktree {
		s.Dir = x.state.o.Root
	}
	return s
}

// unlessStopped returns err, or, if the run is stopping, gives the task back to the schedule and returns nil.
func (x *executor) unlessStopped(ctx context.Context, j decide.Job, err error) error {
	if ctx.Err() == nil {
		return err
	}
	x.state.WithLock(func() {
		task := x.state.Plan.Task(j.Index).ID
		x.state.Step(x.state.Instant(), attempts.Step{Kind: attempts.StepRequeued, Task: task})
		x.state.Pool.Release(task)
		x.state.Plan.Requeue(j.Index)
	})
	return nil
}

// assign returns the next attempt of a task as the engine is given it.
func (x *executor) assign(task *epic.Task, record attempts.TaskRecord, runner string) engine.Attempt {
	model := plaintext.FirstOf(task.Model, x.state.o.Model)
	wall := x.state.o.Limits.WallFor(task)
	a := engine.Attempt{Run: x.state.o.Run, Task: *task, Number: len(record.Attempts) + 1, Runner: runner, Model: model, Wall: wall}
	a.EarlierFindings = earlierFindings(record)
	if last, ok := verdict.Previous(record); ok {
		a.Previous = last
	}
	continueSession(&a, record)
	a.BriefInput = briefInput(x.state, task)
	a.BriefInput.Agent = x.state.o.Agent(runner)
	if kinds.FactsOf(a.BriefInput.Agent.Type).NewSession && !a.Previous.AwaitsReview() {
		a.NewSession = uuid.NewString()
	}
	x.state.WithLock(func() {
		left := x.limits.Budget.Remaining(task, record.UsedSince())
		a.BriefInput.BudgetUSD, a.BriefInput.Tokens = left.USD, left.Tokens
		a.Closed = x.state.Pool.Closed(x.state.Instant())
		if at, ok := x.state.o.Graph.Index(task.ID); ok {
			a.WasHeld = x.state.Plan.WasPostponed(at)
		}
	})
	return a
}

// continueSession has the attempt continue the session that a person has answered, if its runner is the same.
func continueSession(a *engine.Attempt, record attempts.TaskRecord) {
	if its := verdict.Continued(record); its != nil && its.Runner == a.Runner {
		a.Session, a.Spent = its.Session, engine.SpentBy(its.Session, record.Attempts)
	}
}

// earlierFindings returns the findings of the last attempt that has a verdict, as markdown.
func earlierFindings(record attempts.TaskRecord) string {
	for _, a := range slices.Backward(record.Attempts) {
		if a.Receipt.Verdict != "" {
			return a.Receipt.Findings
		}
	}
	return ""
}

// runAttempt runs the attempt and cancels it when a budget is exhausted.
func (x *executor) runAttempt(ctx context.Context, a engine.Attempt, record attempts.TaskRecord) (engine.Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id := a.Task.ID
	x.state.WithLock(func() {
		x.limits.Begin(&a.Task, record.UsedSince(), stop)
	})
	f, err := x.state.engine.Run(ctx, a)
	x.state.WithLock(func() {
		x.limits.Over(id)
		x.limits.RecordUsage(engine.Event{Task: id, Usage: f.Usage}) // it has ended, whatever that comes to
	})
	err = stoppedByPerson(ctx, &f, err)
	var over *limits.ExhaustedError
	if err == nil && verdict.ClassOf(f.Outcome).Stopped && errors.As(context.Cause(ctx), &over) {
		f.Overrule(verdict.OutOfBudget(capOf[over.Scope], over.Error()))
	}
	switch why := f.Receipt.ErrorSummary; {
	case err != nil:
	case f.Outcome.Charged() && strings.Contains(why, runners.FilledDisk): // an agent that only says so gains no more than a turn at the end
		f.Overrule(verdict.FilledDisk(why))
		f.Held = true
	case verdict.ClassOf(f.Outcome).DiskExcuses:
		x.excuseFullDisk(&f)
	}
	return f, err
}

// capOf names what a budget is for; a scope that is missing here is of the run or the epic.
var capOf = map[limits.Scope]verdict.Cap{limits.ScopeAttempt: verdict.AttemptCap, limits.ScopeTask: verdict.TaskCap}

// excuseFullDisk asks how much room is left for an attempt that failed, and overrules the failure if the disk is full.
func (x *executor) excuseFullDisk(f *engine.Result) {
	if x.state.o.Free == nil {
		return
	}
	var free decide.Free
	x.state.WithLock(func() { free = x.state.o.Free() })
	if o, full := verdict.FullDisk(free.Disk, x.state.o.Limits.DiskFloor, f.Receipt.ErrorSummary); full {
		f.Overrule(o)
	}
}

// gateIfExhausted gates a task that has no budget or no attempts left before its next attempt begins.
func (x *executor) gateIfExhausted(j decide.Job, task *epic.Task, record attempts.TaskRecord) (bool, error) {
	gate := x.recorder.judge.ExhaustedGate(task, record)
	if gate == nil {
		return false, nil
	}
	gate.At = x.state.Now().UTC()
	err := x.state.store.Append(attempts.Event{Type: attempts.TypeGated, Task: task.ID, Gate: gate})
	x.state.WithLock(func() {
		x.recorder.judge.Refuse(j.Index)
		x.state.Notify(x.state.O.About(task, record, decide.Update{Kind: decide.Gated, Text: gate.Text()}))
		x.state.Announce()
	})
	return true, err
}

// awaitsRunner waits for the runner of an attempt that is ready for its agent, if that runner has failed others meanwhile. It
// returns why that would take longer than two back-offs; "" if the agent may begin.
func (x *executor) awaitsRunner(ctx context.Context, a engine.Attempt) (why string) {
	for ctx.Err() == nil && !x.state.Drained() {
		x.state.Mu.Lock()
		now := x.state.Instant()
		rest, again := x.state.Pool.Begin(a.Runner, a.Task.ID, now)
		wait := decide.Waiting{Changed: x.state.Changed, Rest: rest}
		if again {
			x.state.Step(now, attempts.Step{Kind: attempts.StepAsked, Task: a.Task.ID, Runner: a.Runner})
		}
		why = x.state.Pool.Why(a.Runner)
		x.state.Mu.Unlock()
		switch {
		case wait.Rest <= 0:
			return ""
		case wait.Rest > 2*x.state.o.Limits.Backoff:
			return a.Runner + " has failed others before this agent began" + plaintext.Because(why)
		}
		wait.Wait(ctx, x.state.o.Drain)
	}
	return ""
}
