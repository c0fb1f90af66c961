package decide

import (
	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/verdict"
)

// ExhaustedGate returns the gate of a task that has no budget or no attempts left, else nil.
func (c *Judge) ExhaustedGate(task *epic.Task, record attempts.TaskRecord) *attempts.Gate {
	why := ""
	if over := c.state.O.Budget.TaskExhausted(task, record.UsedSince()); over != nil {
		why = over.Error()
	}
	return verdict.GateBefore(record, verdict.Limits{MaxAttempts: c.state.O.Limits.AttemptsFor(task)}, why)
}

// Refuse takes a task out of the run that is gated before its attempt begins. The caller holds Mu.
func (c *Judge) Refuse(index int) {
	task := c.state.Plan.Task(index).ID
	c.state.Step(c.state.Instant(), attempts.Step{Kind: attempts.StepRefused, Task: task})
	c.state.Plan.Gate(index)
	c.state.Pool.Release(task)
}

// DecideEpic tells the pool how the reviewers of the whole epic did, and returns what follows. The caller holds Mu.
func (c *Judge) DecideEpic(f engine.Result) Ruling {
	now, a := c.state.Instant(), engine.Attempt{Task: epic.Task{ID: engine.WholeEpic}}
	rule := c.rule(now, a, f, attempts.Ended{Receipt: f.Receipt})
	made := c.state.ruledStep(attempts.StepReviewed, a, f)
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
