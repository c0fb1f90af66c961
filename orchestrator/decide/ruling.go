package decide

import (
	"fmt"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/runnerpool"
	"relay/orchestrator/verdict"
)

// Ruling is what follows from an attempt's end for its runner, its reviewers and its task.
type Ruling struct {
	Cooldown []*attempts.Cooldown // what later runs must know too
	repeat   bool                 // the runner's fault has been counted before
	spent    string               // why nobody is asked for the task any more; "" : somebody is
}

// rule tells the pool how an attempt's runner and reviewers did, and returns what follows. The caller holds Mu.
func (c *Judge) rule(now clock.Instant, a engine.Attempt, f engine.Result, e attempts.Ended) (rule Ruling) {
	task := a.Task.ID
	alone, last := c.isAlone(task)
	fail := func(name string, o attempts.Outcome, why string, resetAt time.Time) {
		fault := runnerpool.Fault{Outcome: o, Why: c.state.Redact.Block(why), ResetAt: resetAt, Alone: alone, Last: last}
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
	case name == task.Runner || task.Runner == "" && c.state.Pool.Prefers(name):
		if !yes {
			return ""
		}
	default:
		failed = fmt.Sprintf("reviewer %s failed %d times", name, faults)
	}
	return failed + " on this task alone, and served others; the last: " + why
}
