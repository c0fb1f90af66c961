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
func (r *run) newPool() *runnerpool.Pool {
	o := r.o
	pool := runnerpool.New(runnerpool.Options{
		Order: o.Runners, Panel: o.judges(), Backoff: o.Limits.Backoff, BackoffMax: o.Limits.BackoffMax, TaskFaults: o.Limits.TaskFaults,
		OutAfter: o.Limits.OutAfter, OutPeriod: o.Limits.OutPeriod, Deadline: r.deadline, Patience: o.Limits.Patience, Jitter: o.Jitter,
	})
	if !o.AskNow {
		r.store.View(func(l *attempts.Ledger) {
			pool.Learn(pastAttempts(l))
			pool.Recall(l.Cooldowns, r.instant())
		})
	}
	return pool
}

// asks notes who is asked by a task that begins. The caller holds mu.
func (r *run) askRunners(i int, runner string, now clock.Instant) {
	task := r.plan.Task(i).ID
	lacking := r.plan.MissingReviewers(i)
	if lacking == nil {
		r.pool.Ask(runner, task, now)
	}
	for _, name := range lacking {
		r.pool.Ask(name, task, now)
	}
}

// awaitsRunner waits for the runner of an attempt that is ready for its agent, when that runner has failed others meanwhile. It
// says why that would take longer than a back-off; "" : the agent may begin.
func (r *run) awaitsRunner(ctx context.Context, a engine.Attempt) (why string) {
	for ctx.Err() == nil && !r.drained() {
		r.mu.Lock()
		wait := waiting{changed: r.changed, rest: r.pool.Begin(a.Runner, a.Task.ID, r.instant())}
		why = r.pool.Why(a.Runner)
		r.mu.Unlock()
		switch {
		case wait.rest <= 0:
			return ""
		case wait.rest > 2*r.o.Limits.Backoff:
			return a.Runner + " has failed others before this agent began" + text.Because(why)
		}
		wait.wait(ctx, r.o.Drain)
	}
	return ""
}

// pastAttempts are those of earlier runs, when runners have failed tasks that are not completed. What a person has set back is
// left out.
func pastAttempts(l *attempts.Ledger) (past []runnerpool.Past) {
	relevant := false
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
			relevant = relevant || fault && !rec.Completed
			past = append(past, runnerpool.Past{Runner: a.Runner, Task: id, From: a.StartedAt, To: a.EndedAt, Outcome: outcome})
		}
	}
	if !relevant {
		return nil
	}
	return past
}

// answered takes note of what an attempt's end says of its runner and its reviewers.
func (r *run) answered(a engine.Attempt, f engine.Result, e attempts.Ended) (rule ruling) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, task := r.instant(), a.Task.ID
	alone, last := r.alone(task)
	fail := func(name string, o attempts.Outcome, why string, resetAt time.Time) {
		reviewer := r.pool.Fail(name, task, runnerpool.Fault{Outcome: o, Why: r.redact.Block(why), ResetAt: resetAt, Alone: alone, Last: last}, now)
		if reviewer.Cooldown != nil {
			rule.cooldown = append(rule.cooldown, reviewer.Cooldown)
		}
		rule.repeat = rule.repeat || reviewer.Repeat
		if reviewer.Barred {
			rule.spent = r.spentRunners(&a.Task, name, reviewer.Own, why)
		}
	}
	if e.Receipt.Review != nil {
		for _, s := range e.Receipt.Review.Opinions {
			if s.Reviewer != a.Runner {
				r.pool.Answered(s.Reviewer, task, now)
			}
		}
	}
	switch {
	case e.Receipt.AwaitsReview(): // that is no fault of the runner's
		if !a.Unfinished.AwaitsReview() && a.Runner != "" {
			r.pool.Answered(a.Runner, task, now)
		}
	case engine.RunnerFault(f.Outcome):
		fail(a.Runner, f.Outcome, e.Receipt.ErrorSummary, f.ResetAt)
	case served(a, f):
		r.pool.Answered(a.Runner, task, now)
	}
	for _, reviewer := range f.Unable {
		fail(reviewer.Name, reviewer.Outcome, reviewer.Why, reviewer.ResetAt)
	}
	r.pool.Release(task)
	return rule
}

// served reports whether an attempt that no fault has ended says that its runner answers now. An agent that ended under a run
// which was killed says nothing of that.
func served(a engine.Attempt, f engine.Result) bool {
	return a.Runner != "" && !a.Ended && f.Outcome != attempts.Stopped && f.Outcome != attempts.Environment
}

// alone reports whether nothing else is ready or under way than a task, and whether nothing waits for it either. The caller
// holds mu.
func (r *run) alone(task string) (alone, last bool) {
	i, ok := r.o.Graph.Index(task)
	if !ok || r.plan == nil || len(r.left) > 0 {
		return false, false
	}
	return r.plan.IsAlone(i)
}

// spentRunners says why nobody is left to ask for a task, as a runner has failed it alone so often; "" when somebody is.
// The caller holds mu.
func (r *run) spentRunners(task *epic.Task, name string, faults int, why string) string {
	failed, yes := r.pool.Spent(task.ID, task.Runner)
	switch {
	case name == task.Runner || task.Runner == "" && r.pool.Prefers(name):
		if !yes {
			return ""
		}
	default:
		failed = fmt.Sprintf("reviewer %s failed %d times", name, faults)
	}
	return failed + " on this task alone, and served others; the last: " + why
}
