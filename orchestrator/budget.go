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
func (n *run) recordUsage(h engine.Event) {
	over := n.budget.Record(h.Task, h.Usage)
	if stop := n.stops[h.Task]; stop != nil && over != nil && !h.Delivered {
		stop(over)
	}
	n.exhausted()
}

// exhausted reports whether a cap keeps anything more from being started, and tells that once. The caller holds mu.
func (n *run) exhausted() bool {
	if n.exhaustedBy == nil {
		n.exhaustedBy = n.budget.Exhausted()
		if left := n.counts(); n.exhaustedBy != nil && left.Pending+left.Blocked > 0 {
			n.tell(Update{Kind: UpdateStopping, Text: n.exhaustedBy.Error() + "; nothing new is started"})
		}
	}
	return n.exhaustedBy != nil
}

// runAttempt runs the attempt and cancels it when a budget is exhausted.
func (n *run) runAttempt(ctx context.Context, a engine.Attempt, record attempts.TaskRecord) (engine.Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id := a.Task.ID
	n.withLock(func() {
		n.budget.Begin(&a.Task, record.UsedSince())
		n.stops[id] = stop
	})
	f, err := n.engine.Run(ctx, a)
	n.withLock(func() {
		delete(n.stops, id)
		_ = n.budget.Record(id, f.Usage) // it has ended, whatever that comes to
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
func (n *run) gateIfExhausted(j job, task *epic.Task, record attempts.TaskRecord) (bool, error) {
	gate := attempts.GateBefore(record, attempts.Limits{MaxAttempts: attemptsFor(n.o.Limits, task)})
	if over := n.o.Budget.TaskExhausted(task, record.UsedSince()); gate == nil && over != nil {
		gate = &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	if gate == nil {
		return false, nil
	}
	gate.At = n.now().UTC()
	err := n.store.Append(attempts.Event{Type: attempts.TypeGated, Task: task.ID, Gate: gate})
	n.withLock(func() {
		n.plan.Gate(j.index)
		n.tell(n.about(task, record, Update{Kind: UpdateGated, Text: string(gate.Reason) + ": " + gate.Detail}))
		n.announce()
	})
	return true, err
}

// taskBudgetGate returns a gate if an attempt has exhausted the task's budget, else nil.
func (n *run) taskBudgetGate(a engine.Attempt, record attempts.TaskRecord, f engine.Result) *attempts.Gate {
	used := record.UsedSince()
	used.Add(f.Usage)
	if over := n.o.Budget.TaskExhausted(&a.Task, used); over != nil {
		return &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	return nil
}
