package orchestrator

import (
	"context"
	"fmt"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/runnerpool"
	"relay/orchestrator/text"
)

// ruling is what an attempt's end says of its runner, its reviewers and its task.
type ruling struct {
	cooldown []*attempts.Cooldown // what later runs must know too
	repeat   bool                 // the runner's fault has been counted before
	spent    string               // why nobody is asked for the task any more; "" : somebody is
}

// newPool makes the pool of runners, with what earlier runs were told.
func (n *run) newPool() *runnerpool.Pool {
	o := n.o
	pool := runnerpool.New(runnerpool.Options{
		Order: o.Runners, Panel: o.judges(), Backoff: o.Limits.Backoff, BackoffMax: o.Limits.BackoffMax, TaskFaults: o.Limits.TaskFaults,
		OutAfter: o.Limits.OutAfter, OutPeriod: o.Limits.OutPeriod, Deadline: n.deadline, Patience: o.Limits.Patience, Jitter: o.Jitter,
	})
	if !o.AskNow {
		n.store.View(func(l *attempts.Ledger) {
			pool.Learn(pastAttempts(l))
			pool.Recall(l.Cooldowns, n.instant())
		})
	}
	return pool
}

// asks notes who is asked by a task that begins. The caller holds mu.
func (n *run) asks(i int, runner string, now clock.Instant) {
	task := n.plan.Task(i).ID
	lacking := n.plan.MissingReviewers(i)
	if lacking == nil {
		n.pool.Ask(runner, task, now)
	}
	for _, name := range lacking {
		n.pool.Ask(name, task, now)
	}
}

// awaitsRunner waits for the runner of an attempt that is ready for its agent, when that runner has failed others meanwhile. It
// says why that would take longer than a back-off; "" : the agent may begin.
func (n *run) awaitsRunner(ctx context.Context, a engine.Attempt) (why string) {
	for ctx.Err() == nil && !n.drained() {
		n.mu.Lock()
		wait := waiting{changed: n.changed, rest: n.pool.Begin(a.Runner, a.Task.ID, n.instant())}
		why = n.pool.Why(a.Runner)
		n.mu.Unlock()
		switch {
		case wait.rest <= 0:
			return ""
		case wait.rest > 2*n.o.Limits.Backoff:
			return a.Runner + " has failed others before this agent began" + text.Because(why)
		}
		wait.wait(ctx, n.o.Drain)
	}
	return ""
}

// pastAttempts are those of earlier runs, when runners have failed tasks that are not completed. What a person has set back is
// left out.
func pastAttempts(l *attempts.Ledger) (past []runnerpool.Past) {
	known := false
	for id, rec := range l.Tasks {
		for i, a := range rec.Attempts {
			fault := engine.RunnerFault(a.Outcome)
			if a.Runner == "" || a.EndedAt.IsZero() || fault && i < rec.CountFrom {
				continue
			}
			outcome := a.Outcome
			if outcome == attempts.Environment {
				outcome = attempts.Stopped
			}
			known = known || fault && !rec.Completed
			past = append(past, runnerpool.Past{Runner: a.Runner, Task: id, From: a.StartedAt, To: a.EndedAt, Outcome: outcome})
		}
	}
	if !known {
		return nil
	}
	return past
}

// answered takes note of what an attempt's end says of its runner and its reviewers.
func (n *run) answered(a engine.Attempt, f engine.Result, e attempts.Ended) (told ruling) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, task := n.instant(), a.Task.ID
	alone, last := n.alone(task)
	fail := func(name string, o attempts.Outcome, why string, resetAt time.Time) {
		r := n.pool.Fail(name, task, runnerpool.Fault{Outcome: o, Why: n.redact.Block(why), ResetAt: resetAt, Alone: alone, Last: last}, now)
		if r.Cooldown != nil {
			told.cooldown = append(told.cooldown, r.Cooldown)
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
	case engine.RunnerFault(f.Outcome):
		fail(a.Runner, f.Outcome, e.Receipt.ErrorSummary, f.ResetAt)
	case served(a, f):
		n.pool.Answered(a.Runner, task, now)
	}
	for _, r := range f.Unable {
		fail(r.Name, r.Outcome, r.Why, r.ResetAt)
	}
	n.pool.Release(task)
	return told
}

// served reports whether an attempt that no fault has ended says that its runner answers now. An agent that ended under a run
// which was killed says nothing of that.
func served(a engine.Attempt, f engine.Result) bool {
	return a.Runner != "" && !a.Ended && f.Outcome != attempts.Stopped && f.Outcome != attempts.Environment
}

// alone reports whether nothing else is ready or under way than a task, and whether nothing waits for it either. The caller
// holds mu.
func (n *run) alone(task string) (alone, last bool) {
	i, known := n.o.Graph.Index(task)
	if !known || n.plan == nil || len(n.left) > 0 {
		return false, false
	}
	return n.plan.IsAlone(i)
}

// spentRunners says why nobody is left to ask for a task, as a runner has failed it alone so often; "" when somebody is.
// The caller holds mu.
func (n *run) spentRunners(task *epic.Task, name string, faults int, why string) string {
	failed, yes := n.pool.Spent(task.ID, task.Runner)
	switch {
	case name == task.Runner || task.Runner == "" && n.pool.Prefers(name):
		if !yes {
			return ""
		}
	default:
		failed = fmt.Sprintf("reviewer %s failed %d times", name, faults)
	}
	return failed + " on this task alone, and served others; the last: " + why
}
