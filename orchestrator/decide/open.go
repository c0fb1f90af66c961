package decide

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// OpenAttempt is an attempt that a killed run left open.
type OpenAttempt struct {
	Task    string
	Record  attempts.TaskRecord // without the open attempt
	Attempt attempts.Attempt
}

// OpenAttempts returns the attempts that a killed run left open, in the order of the plan.
func (s *State) OpenAttempts() (found []OpenAttempt) {
	for i := range s.O.Graph.Len() {
		id := s.O.Graph.ID(i)
		record := s.store.Task(id)
		open := record.Running()
		if open == nil {
			continue
		}
		record.Attempts = record.Attempts[:len(record.Attempts)-1]
		found = append(found, OpenAttempt{Task: id, Record: record, Attempt: *open})
	}
	return found
}

// Reopen counts the attempts of a killed run as running, and returns those whose tasks are in the plan. The caller holds Mu.
func (d *Dispatcher) Reopen(open []OpenAttempt, now clock.Instant) (reopened []OpenAttempt) {
	for _, o := range open {
		at, ok := d.State.O.Graph.Index(o.Task)
		if !ok {
			continue
		}
		d.State.Plan.Start(at)
		d.State.Pool.Probe(o.Attempt.Runner, now)
		d.State.OpenJobs = append(d.State.OpenJobs, Job{Index: at, Runner: o.Attempt.Runner, Open: &o})
		reopened = append(reopened, o)
	}
	d.State.Step(now, attempts.Step{Kind: attempts.StepReopened})
	return reopened
}

// NextOpen takes the next attempt of a killed run, or nil. It does so too when nothing new is started, as that work is paid for.
// The caller holds Mu.
func (d *Dispatcher) NextOpen(ctx context.Context, now clock.Instant) *Job {
	if ctx.Err() != nil || d.State.Broken != nil || len(d.State.OpenJobs) == 0 {
		return nil
	}
	first := d.State.OpenJobs[0]
	d.State.OpenJobs = d.State.OpenJobs[1:]
	d.State.Step(now, attempts.Step{Kind: attempts.StepTaken, Task: d.State.Plan.Task(first.Index).ID})
	return &first
}

// over reports whether a person or a failure has ended the run, so that nothing more starts. The caller holds Mu.
func (d *Dispatcher) over(ctx context.Context, now clock.Instant) bool {
	over := ctx.Err() != nil || d.State.Broken != nil || d.State.Drained()
	if over && !d.State.steps.over {
		d.State.steps.over = true
		d.State.Step(now, attempts.Step{Kind: attempts.StepOver})
	}
	return over
}
