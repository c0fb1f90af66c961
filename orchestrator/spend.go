package orchestrator

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/epic"
	"relay/runners"
)

// spends takes in what an agent or a reviewer has used so far, and stops an agent for which there is no money left. A
// review of what an agent has delivered counts and is not stopped: to throw proved work away would cost more. The caller
// holds mu.
func (n *night) spends(h Heard) {
	over := n.purse.heard(h.Task, h.Usage)
	if stop := n.stops[h.Task]; stop != nil && over != nil && !h.Delivered {
		stop(over)
	}
	n.spent()
}

// spent reports whether nothing more may be started, and says so once. The caller holds mu.
func (n *night) spent() bool {
	if n.over == nil {
		n.over = n.purse.spent()
		if left := n.counts(); n.over != nil && left.Pending+left.Blocked > 0 {
			n.tell(Update{Kind: UpdateStopping, Text: n.over.Error() + "; nothing new is started"})
		}
	}
	return n.over != nil
}

// pay carries an attempt out that is stopped as soon as there is no money left for it.
func (n *night) pay(ctx context.Context, a Assignment, record attempts.TaskRecord) (Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	id := a.Task.ID
	n.locked(func() {
		n.purse.begin(&a.Task, record.UsedSince())
		n.stops[id] = stop
	})
	f, err := n.engine.Attempt(ctx, a)
	n.locked(func() {
		delete(n.stops, id)
		_ = n.purse.heard(id, f.Usage) // it has ended, whatever that comes to
	})
	var over *Overspent
	if err == nil && f.Outcome == attempts.Stopped && errors.As(context.Cause(ctx), &over) {
		f.overspent(over)
	}
	return f, err
}

// overspent is the end of an attempt that was stopped for money. To use up what one attempt may cost is the agent's own
// failure, like to run out of time; the task's cap gates it; the run's and the epic's are nobody's fault.
func (f *Result) overspent(over *Overspent) {
	f.fail(attempts.Budget, attempts.BudgetSpent, over.Error())
	f.Charged = over.Scope == OfAttempt
	if over.Scope == OfTask {
		f.Gate = attempts.BudgetExhausted
	}
}

// bankrupt gates a task that has neither money nor attempts left before its next one begins.
func (n *night) bankrupt(j job, task *epic.Task, record attempts.TaskRecord) (bool, error) {
	gate := attempts.GateBefore(record, attempts.Limits{MaxAttempts: n.o.Limits.attempts(task)})
	if over := n.o.Budget.Of(task).reached(OfTask, moneyOf(record.UsedSince()), false); gate == nil && over != nil {
		gate = &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	if gate == nil {
		return false, nil
	}
	gate.At = n.now().UTC()
	err := n.store.Append(attempts.Event{Type: attempts.TypeGated, Task: task.ID, Gate: gate})
	n.locked(func() {
		n.plan.Gate(j.index)
		n.tell(n.about(task, record, Update{Kind: UpdateGated, Text: string(gate.Reason) + ": " + gate.Detail}))
		n.announce()
	})
	return true, err
}

// spentUp gates a task that an attempt has left without anything to spend.
func (n *night) spentUp(a Assignment, record attempts.TaskRecord, f Result) *attempts.Gate {
	used := record.UsedSince()
	used.Add(f.Usage)
	if over := n.o.Budget.Of(&a.Task).reached(OfTask, moneyOf(used), false); over != nil {
		return &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over.Error()}
	}
	return nil
}

func usageOf(u runners.Usage) attempts.Usage {
	return attempts.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD, Estimated: u.Estimated, ListPriced: u.ListPriced}
}
