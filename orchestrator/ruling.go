package orchestrator

import (
	"fmt"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/runnerpool"
	"relay/runners"
)

// ruling is what an attempt's end says of its runner, its reviewers and its task.
type ruling struct {
	cooling []*attempts.Cooling // what later runs must know too
	repeat  bool                // the runner's fault has been counted before
	spent   string              // why nobody is asked for the task any more; "" : somebody is
}

// runnerFaults are the outcomes that say something of the runner or its provider, and nothing of the agent's work.
var runnerFaults = map[attempts.Outcome]bool{attempts.Quota: true, attempts.Provider: true, attempts.Auth: true, attempts.Start: true}

// asks notes who is asked by a task that begins. The caller holds mu.
func (n *night) asks(i int, runner string, now clock.Instant) {
	task := n.plan.tasks[i].ID
	lacking, reviewed := n.plan.awaits[i]
	if !reviewed {
		n.pool.Ask(runner, task, now)
	}
	for _, name := range lacking {
		n.pool.Ask(name, task, now)
	}
}

// hears takes a sign of life of an agent: its runner serves. The caller holds mu.
func (n *night) hears(h Heard) {
	said := h.Kind == UpdateActivity && (h.Event.Kind == runners.EventText || h.Event.Kind == runners.EventTool)
	if said && n.pool.Heard(h.Runner, h.Task, n.moment()) {
		n.announce()
	}
}

// answered takes note of what an attempt's end says of its runner and its reviewers.
func (n *night) answered(a Assignment, f Result, e attempts.Ended) (told ruling) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, task := n.moment(), a.Task.ID
	fail := func(name string, o attempts.Outcome, why string, resetAt time.Time) {
		r := n.pool.Fail(name, task, runnerpool.Fault{Outcome: o, Why: n.redact.text(why), ResetAt: resetAt}, now)
		if r.Cooling != nil {
			told.cooling = append(told.cooling, r.Cooling)
		}
		told.repeat = told.repeat || r.Repeat
		if r.Barred {
			told.spent = n.spentRunners(&a.Task, name, r.Own, why)
		}
	}
	if e.Receipt.Review != nil {
		for _, s := range e.Receipt.Review.Said {
			if s.Reviewer != a.Runner {
				n.pool.Answered(s.Reviewer, task, now)
			}
		}
	}
	switch {
	case e.Receipt.AwaitsReview(): // that is no fault of the runner's
		if !a.Unfinished.AwaitsReview() && a.Runner != "" {
			n.pool.Answered(a.Runner, task, now)
		}
	case runnerFaults[f.Outcome]:
		fail(a.Runner, f.Outcome, e.Receipt.ErrorSummary, f.ResetAt)
	case a.Runner != "" && f.Outcome != attempts.Stopped && f.Outcome != attempts.Environment:
		n.pool.Answered(a.Runner, task, now)
	}
	for _, r := range f.Unable {
		fail(r.Name, r.Outcome, r.Why, r.ResetAt)
	}
	n.pool.Release(task)
	return told
}

// spentRunners says why nobody is left to ask for a task, as a runner has failed it alone so often; "" when somebody is.
// The caller holds mu.
func (n *night) spentRunners(task *epic.Task, name string, faults int, why string) string {
	failed, yes := n.pool.Spent(task.ID, task.Runner)
	switch {
	case name == task.Runner || task.Runner == "" && n.pool.Prefers(name):
		if !yes {
			return ""
		}
	default:
		failed = fmt.Sprintf("reviewer %s failed %d times", name, faults)
	}
	return failed + " on this task alone, and served others meanwhile; the last: " + why
}
