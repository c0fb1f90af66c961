package decide

import (
	"fmt"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/orchestrator/updates"
)

// NoRunnerError means that no agent CLI is left that could work.
type NoRunnerError struct {
	Runner  string           // the last; "" : none is configured
	Outcome attempts.Outcome // of its last attempt
	Why     string
}

func (e *NoRunnerError) Error() string {
	if e.Runner == "" {
		return "no usable runner: none is configured"
	}
	return "no usable runner: " + e.Runner + text.Because(e.Why)
}

// idle returns what a worker waits for when tasks are ready and no runner may be asked for any of them; nothing when the worker
// is to end. It returns a *NoRunnerError if no runner is left in this run.
func (d *Dispatcher) idle(now clock.Instant) (Choice, *Waiting, error) {
	none := Choice{Index: -1}
	name, at := d.opens(now)
	wait := &Waiting{Changed: d.State.Changed}
	if name != "" {
		wait.Rest = at.Rest(now)
	}
	if d.State.Plan.CountRunning() > 0 {
		return none, wait, nil
	}
	if name != "" && d.limits.pointless(at, now) {
		why := fmt.Sprintf("%s is not asked before %s%s; the run's deadline is %s", name, text.Clock(at.Day), text.Because(d.State.Pool.Why(name)), text.Clock(d.limits.Deadline.Day))
		return none, nil, d.limits.stop(now, ending.Deadline, why)
	}
	if name != "" {
		what := attempts.Waiting{Until: at.Day.UTC(), For: name, Why: d.State.Pool.Why(name)}
		return none, wait, d.waiter.notifyWaiting(now, updates.Waiting, "", what)
	}
	if name, yes := d.State.Pool.Hopeless("", now); yes {
		d.State.Step(now, attempts.Step{Kind: attempts.StepStopped, For: string(ending.NoRunner), Runner: name})
		return none, nil, &NoRunnerError{Runner: name, Outcome: d.State.Pool.Last(name), Why: d.State.Pool.Why(name)}
	}
	return none, nil, nil
}

// opens returns the first runner that may be asked for a ready task, and when; "" if none is left for any.
func (d *Dispatcher) opens(now clock.Instant) (name string, at clock.Deadline) {
	asked := make(map[string]bool)
	for i := range d.State.Plan.Ready() {
		task := d.State.Plan.Task(i)
		lacking := d.State.Plan.MissingReviewers(i)
		waits := lacking != nil
		like := !waits && !d.State.Pool.HasFailed(task.ID)
		if like && asked[task.Runner] {
			continue
		}
		var who string
		var when clock.Deadline
		if waits {
			who, when = d.State.Pool.Latest(task.ID, lacking, now)
		} else {
			asked[task.Runner] = asked[task.Runner] || like
			who, when = d.State.Pool.Opens(task.ID, task.Runner, d.wanted(), now)
		}
		if sooner := when.Rest(now) - at.Rest(now); who != "" && (name == "" || sooner < 0 || sooner == 0 && who < name) {
			name, at = who, when
		}
	}
	return name, at
}

// Unable returns, in words, why no runner can be asked for a task in this run.
func (d *Dispatcher) Unable(task *epic.Task) string {
	name, yes := d.State.Pool.Hopeless(task.Runner, d.State.Instant())
	if !yes {
		why, _ := d.State.Pool.Spent(task.ID, task.Runner)
		return why
	}
	return name + text.Because(d.State.Pool.Why(name))
}

// WaitForPanel returns what to wait for until every reviewer of the whole epic may be asked; open means that they may be asked now.
// Neither is so when that is not in this run. The caller holds Mu.
func (d *Dispatcher) WaitForPanel(now clock.Instant) (wait *Waiting, open bool, err error) {
	name, at := d.State.Pool.Latest(engine.WholeEpic, d.State.Pool.Panel, now)
	if name == "" || at.Rest(now) <= 0 || d.limits.pointless(at, now) {
		return nil, name != "" && at.Rest(now) <= 0, nil
	}
	what := attempts.Waiting{Until: at.Day.UTC(), For: name, Why: d.State.Pool.Why(name)}
	err = d.waiter.notifyWaiting(now, updates.Waiting, engine.WholeEpic, what)
	return &Waiting{Changed: d.State.Changed, Rest: at.Rest(now)}, false, err
}
