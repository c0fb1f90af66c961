package orchestrator

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/budget"
	"relay/orchestrator/engine"
)

// recordUsage records what an agent or a reviewer has used so far, and stops an agent that exceeds a cap. A review of
// delivered work counts but is not stopped: to throw verified work away would cost more. The caller holds mu.
func (r *run) recordUsage(h engine.Event) {
	over := r.budget.Record(h.Task, h.Usage)
	if stop := r.stops[h.Task]; stop != nil && over != nil && !h.Delivered {
		stop(over)
	}
	r.exhausted()
}

// exhausted reports whether a cap keeps anything more from being started, and tells that once. The caller holds mu.
func (r *run) exhausted() bool {
	if r.exhaustedBy == nil {
		r.exhaustedBy = r.budget.Exhausted()
		if left := r.counts(); r.exhaustedBy != nil && left.Pending+left.Blocked > 0 {
			r.tell(Update{Kind: UpdateStopping, Text: r.exhaustedBy.Error() + "; nothing new is started"})
		}
	}
	return r.exhaustedBy != nil
}

// runAttempt runs the attempt and cancels it when a budget is exhausted.
func (r *run) runAttempt(ctx context.Context, a engine.Attempt, record attempts.TaskRecord) (engine.Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id := a.Task.ID
	r.withLock(func() {
		r.budget.Begin(&a.Task, record.UsedSince())
		r.stops[id] = stop
	})
	f, err := r.engine.Run(ctx, a)
	r.withLock(func() {
		delete(r.stops, id)
		_ = r.budget.Record(id, f.Usage) // it has ended, whatever that comes to
	})
	var over *budget.ExhaustedError
	if err == nil && f.Outcome == attempts.Stopped && errors.As(context.Cause(ctx), &over) {
		budgetExhausted(&f, over)
	}
	return f, err
}

// budgetExhausted is the end of an attempt that was stopped for money. To use up what one attempt may cost is the agent's own
// failure, like to run out of time; the task's cap gates it; the run's and the epic's are nobody's fault.
func budgetExhausted(f *engine.Result, over *budget.ExhaustedError) {
	f.Fail(attempts.Budget, attempts.BudgetSpent, over.Error())
	f.Charged = over.Scope == budget.ScopeAttempt
	if over.Scope == budget.ScopeTask {
		f.Gate = attempts.BudgetExhausted
	}
}

// gateIfExhausted gates a task that has no budget or no attempts left before its next attempt begins.
func (r *run) gateIfExhausted(j job, task *epic.Task, record attempts.TaskRecord) (bool, error) {
	gate := attempts.GateBefore(record, attempts.Limits{MaxAttempts: attemptsFor(r.o.Limits, task)})
	if over := r.o.Budget.TaskExhausted(task, record.UsedSince()); gate == nil && over != nil {
		gate = &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	if gate == nil {
		return false, nil
	}
	gate.At = r.now().UTC()
	err := r.store.Append(attempts.Event{Type: attempts.TypeGated, Task: task.ID, Gate: gate})
	r.withLock(func() {
		r.plan.Gate(j.index)
		r.tell(r.about(task, record, Update{Kind: UpdateGated, Text: string(gate.Reason) + ": " + gate.Detail}))
		r.announce()
	})
	return true, err
}

// taskBudgetGate returns a gate if an attempt has exhausted the task's budget, else nil.
func (r *run) taskBudgetGate(a engine.Attempt, record attempts.TaskRecord, f engine.Result) *attempts.Gate {
	used := record.UsedSince()
	used.Add(f.Usage)
	if over := r.o.Budget.TaskExhausted(&a.Task, used); over != nil {
		return &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	return nil
}
