package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// idle returns what a worker waits for when tasks are ready and no runner may be asked for any of them; nothing when the worker
// is to end. It returns a *NoRunnerError if no runner is left in this run.
func (d *dispatcher) idle(now clock.Instant) (choice, *waiting, error) {
	none := choice{index: -1}
	name, at := d.opens(now)
	wait := &waiting{changed: d.state.changed}
	if name != "" {
		wait.rest = at.Rest(now)
	}
	if d.state.plan.CountRunning() > 0 {
		return none, wait, nil
	}
	if name != "" && d.limits.pointless(at, now) {
		why := fmt.Sprintf("%s is not asked before %s%s; the run's deadline is %s", name, clockText(at.Day), text.Because(d.state.pool.Why(name)), clockText(d.limits.deadline.Day))
		return none, nil, d.limits.stop(now, ending.Deadline, why)
	}
	if name != "" {
		what := attempts.Waiting{Until: at.Day.UTC(), For: name, Why: d.state.pool.Why(name)}
		return none, wait, d.waiter.notifyWaiting(now, UpdateWaiting, "", what)
	}
	if name, yes := d.state.pool.Hopeless("", now); yes {
		d.state.step(now, attempts.Step{Kind: attempts.StepStopped, For: string(ending.NoRunner), Runner: name})
		return none, nil, &NoRunnerError{Runner: name, Outcome: d.state.pool.Last(name), Why: d.state.pool.Why(name)}
	}
	return none, nil, nil
}

// opens returns the first runner that may be asked for a ready task, and when; "" if none is left for any.
func (d *dispatcher) opens(now clock.Instant) (name string, at clock.Deadline) {
	asked := make(map[string]bool)
	for i := range d.state.plan.Ready() {
		task := d.state.plan.Task(i)
		lacking := d.state.plan.MissingReviewers(i)
		waits := lacking != nil
		like := !waits && !d.state.pool.HasFailed(task.ID)
		if like && asked[task.Runner] {
			continue
		}
		var who string
		var when clock.Deadline
		if waits {
			who, when = d.state.pool.Latest(task.ID, lacking, now)
		} else {
			asked[task.Runner] = asked[task.Runner] || like
			who, when = d.state.pool.Opens(task.ID, task.Runner, d.wanted(), now)
		}
		if sooner := when.Rest(now) - at.Rest(now); who != "" && (name == "" || sooner < 0 || sooner == 0 && who < name) {
			name, at = who, when
		}
	}
	return name, at
}

// unable returns, in words, why no runner can be asked for a task in this run.
func (d *dispatcher) unable(task *epic.Task) string {
	name, yes := d.state.pool.Hopeless(task.Runner, d.state.instant())
	if !yes {
		why, _ := d.state.pool.Spent(task.ID, task.Runner)
		return why
	}
	return name + text.Because(d.state.pool.Why(name))
}

// recordStranded records the tasks that are still ready when the workers have ended: the runner they name is out for this run.
func (d *dispatcher) recordStranded() error {
	d.state.mu.Lock()
	defer d.state.mu.Unlock()
	left := slices.Sorted(d.state.plan.Ready())
	events := make([]attempts.Event, len(left))
	for at, i := range left {
		t := d.state.plan.Task(i)
		why := d.unable(t)
		note := &attempts.Note{Kind: "runner", Text: t.ID + " is left for another run, its runner cannot work: " + why}
		events[at] = attempts.Event{Type: attempts.TypeNote, Task: t.ID, Note: note}
		d.state.notify(Update{Kind: UpdateNote, Task: t.ID, Text: note.Text})
	}
	if len(events) == 0 {
		return nil
	}
	return d.state.store.Append(events...)
}

// awaitsRunner waits for the runner of an attempt that is ready for its agent, if that runner has failed others meanwhile. It
// returns why that would take longer than two back-offs; "" if the agent may begin.
func (d *dispatcher) awaitsRunner(ctx context.Context, a engine.Attempt) (why string) {
	for ctx.Err() == nil && !d.state.drained() {
		d.state.mu.Lock()
		now, asked := d.state.instant(), d.state.pool.Calls()
		wait := waiting{changed: d.state.changed, rest: d.state.pool.Begin(a.Runner, a.Task.ID, now)}
		if d.state.pool.Calls() != asked {
			d.state.step(now, attempts.Step{Kind: attempts.StepAsked, Task: a.Task.ID, Runner: a.Runner})
		}
		why = d.state.pool.Why(a.Runner)
		d.state.mu.Unlock()
		switch {
		case wait.rest <= 0:
			return ""
		case wait.rest > 2*d.state.o.Limits.Backoff:
			return a.Runner + " has failed others before this agent began" + text.Because(why)
		}
		wait.wait(ctx, d.state.o.Drain)
	}
	return ""
}
