package orchestrator

import (
	"errors"
	"time"

	"relay/attempts"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/replay"
	"relay/orchestrator/schedule"
)

// take makes one step anew. It reports false if the log says too little to go on.
func (r *replayer) take(s recordedStep) bool {
	state, now := r.run.state, r.at
	if state.plan == nil && !beforePlan[s.Kind] {
		return false
	}
	switch s.Kind {
	case attempts.StepPlanned:
		state.planTasks(r.wanted)
	case attempts.StepReopened:
		r.run.recovery.reopen(r.open, now)
	case attempts.StepTaken:
		r.run.recovery.nextOpen(r.ctx, now)
	case attempts.StepChosen, attempts.StepWaited, attempts.StepRetried, attempts.StepStopped, attempts.StepExhausted:
		r.decideStep(s)
	case attempts.StepOver:
		r.over = true
		state.step(now, attempts.Step{Kind: attempts.StepOver})
	case attempts.StepUsed:
		r.used(s)
	case attempts.StepSuspected:
		state.pool.MarkSuspect(s.Runner, s.Task, now)
		state.step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Runner: s.Runner})
	case attempts.StepAnswered:
		r.report.Made(replay.Runner)
		if state.pool.NoteActivity(s.Runner, s.Task, now) {
			state.step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Runner: s.Runner})
		} else {
			r.differs(replay.Runner, s.Task, s.Runner+" is asked again", s.Runner+" is not asked again")
		}
	default:
		return r.takeAttempt(s)
	}
	return true
}

// takeAttempt is take for steps of one attempt or of several.
func (r *replayer) takeAttempt(s recordedStep) bool {
	state, now := r.run.state, r.at
	index, known := r.rec.Graph.Index(s.Task)
	switch s.Kind {
	case attempts.StepAsked:
		r.report.Made(replay.Runner)
		asked := state.pool.Calls()
		if state.pool.Begin(s.Runner, s.Task, now); state.pool.Calls() == asked {
			r.differs(replay.Runner, s.Task, s.Runner+" is asked again", s.Runner+" is not asked again")
		}
		state.step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Runner: s.Runner})
	case attempts.StepJoined:
		r.joined()
	case attempts.StepSplit:
		r.split(s)
	case attempts.StepLanded:
		r.landed(s)
	case attempts.StepReviewed:
		return r.reviewed(s)
	default:
		if !known {
			return false
		}
		return r.takeOne(s, index)
	}
	return true
}

// takeOne is take for steps of one attempt of a task that is in the plan.
func (r *replayer) takeOne(s recordedStep, index int) bool {
	state, now := r.run.state, r.at
	switch s.Kind {
	case attempts.StepRequeued:
		state.step(now, attempts.Step{Kind: s.Kind, Task: s.Task})
		state.pool.Release(s.Task)
		state.plan.Requeue(index)
	case attempts.StepRefused:
		r.refused(s, index)
	case attempts.StepProved:
		v := r.verified(s.Step, r.log.files(s.Step))
		if !s.Recovered {
			state.pool.Answered(r.runnerOf(s), s.Task, now)
		}
		if r.run.merges == nil {
			return false
		}
		r.run.merges.enqueue(queued{Verified: v, job: job{index: index}}, now)
	case attempts.StepRuled:
		return r.ruled(s)
	case attempts.StepSettled:
		return r.settled(s, index)
	case attempts.StepFound:
		e, ok := r.log.ends[attemptID{s.Task, s.Attempt}]
		if !ok {
			return false
		}
		r.memory.Fold(e)
		r.run.recovery.found(r.verified(s.Step, nil).Attempt, e.Ended)
	case attempts.StepClosed:
		state.step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Attempt: s.Attempt})
		r.run.limits.budget.End(s.Task, r.last[s.Task].result.Usage, false)
	default:
		return false // of a newer relay
	}
	return true
}

// decideStep decides what is to start, and puts what was recorded in the place of anything else.
func (r *replayer) decideStep(s recordedStep) {
	state := r.run.state
	r.report.Made(decisionOf(s.Kind))
	if s.Kind == attempts.StepWaited && s.Task == engine.WholeEpic {
		r.waitedForPanel(s)
		return
	}
	m := r.run.limits
	if s.Kind == attempts.StepStopped && s.For == string(ending.Deadline) && m.deadline != nil && m.deadline.Rest(r.at) <= 0 {
		m.expire()
		r.stopped = true
		return
	}
	kept := r.run.keepLimits()
	next, _, err := r.decide(r.run.dispatcher, r.at)
	made := r.made()
	if s.Kind == attempts.StepChosen {
		r.chosen(s, next, made, err)
		return
	}
	r.stopped = s.Kind == attempts.StepStopped || s.Kind == attempts.StepExhausted
	if len(made) > 0 && next.index < 0 && sameStep(made[0], s.Step) {
		return
	}
	kept()
	r.differs(decisionOf(s.Kind), s.Task, stepText(s.Step), decidedText(state.plan, next, made, err))
	r.force(s)
}

// force takes over what a run has decided when nothing was to start.
func (r *replayer) force(s recordedStep) {
	switch s.Kind {
	case attempts.StepRetried:
		r.run.state.plan.RetryPostponed()
	case attempts.StepStopped:
		r.run.limits.stopped = stopReason{ending.Reason(s.For), s.For}
	case attempts.StepExhausted:
		r.run.limits.exhaustedBy = r.run.limits.budget.Exhausted()
	default:
		r.run.dispatcher.waiter.last = Update{Runner: s.For, Until: r.log.began.Add(time.Duration(s.Until))}
	}
	r.setMade(s.Step)
}

// chosen holds the task that would start now against the one that has started, which then does.
func (r *replayer) chosen(s recordedStep, next choice, made []attempts.Step, err error) {
	state := r.run.state
	index, ok := r.rec.Graph.Index(s.Task)
	if !ok {
		return
	}
	if len(made) > 0 || err != nil || next.index != index || next.runner != s.Runner {
		r.differs(replay.Start, s.Task, startText(s.Task, s.Runner), decidedText(state.plan, next, made, err))
		r.setMade()
	}
	record := r.memory.Task(s.Task)
	r.run.dispatcher.begin(choice{index, s.Runner}, r.at)
	task := state.plan.Task(index)
	r.run.limits.budget.Begin(task, record.UsedSince())
	r.run.limits.stops[s.Task] = func(error) {}
	if e, ok := r.log.started[attemptID{s.Task, len(record.Attempts) + 1}]; ok {
		if gate := r.run.executor.exhaustedGate(task, record); gate != nil {
			r.differs(replay.Gate, s.Task, "its attempt begins", gateText(gate))
		}
		r.memory.Fold(e)
	}
}

// decidedText says in words what was decided.
func decidedText(plan *schedule.Schedule, next choice, made []attempts.Step, err error) string {
	var none *NoRunnerError
	switch {
	case errors.As(err, &none):
		return none.Error()
	case len(made) > 0:
		return stepText(made[0])
	case next.index >= 0:
		return startText(plan.Task(next.index).ID, next.runner)
	}
	return "nothing starts"
}

// runnerOf returns the runner of an attempt, by the record.
func (r *replayer) runnerOf(s recordedStep) string {
	for _, a := range r.memory.Task(s.Task).Attempts {
		if a.ID == s.Attempt {
			return a.Runner
		}
	}
	return ""
}

// refused gates a task before its attempt begins.
func (r *replayer) refused(s recordedStep, index int) {
	r.report.Made(replay.Gate)
	gate := r.run.executor.exhaustedGate(r.run.state.plan.Task(index), r.memory.Task(s.Task))
	list := r.log.gated[s.Task]
	if len(list) > 0 {
		then := list[0]
		r.log.gated[s.Task] = list[1:]
		if !sameGate(gate, then.Gate) {
			r.differs(replay.Gate, s.Task, gateText(then.Gate), gateText(gate))
		}
		r.memory.Fold(then)
	}
	delete(r.run.limits.stops, s.Task)
	r.run.executor.refuse(index)
}

// used has attempts tell what they have used.
func (r *replayer) used(s recordedStep) {
	r.report.Made(replay.Budget)
	m := r.run.limits
	for i, u := range s.Used {
		if i < len(s.Used)-1 {
			_ = m.budget.Record(u.Task, u.Usage) // what follows is told by the last
			m.used[u.Task] = u.Usage
			continue
		}
		m.recordUsage(engine.Event{Task: u.Task, Usage: u.Usage, Delivered: s.Task == ""})
	}
	if len(r.made()) == 0 {
		r.differs(replay.Budget, s.Task, stepText(s.Step), "the budget is not used up")
		r.setMade(s.Step)
	}
	r.stopped = r.stopped || m.exhaustedBy != nil
}

// waitedForPanel holds what the review of the whole epic waits for against what was recorded.
func (r *replayer) waitedForPanel(s recordedStep) {
	pool := r.run.state.pool
	name, at := pool.Latest(engine.WholeEpic, pool.Panel, r.at)
	until := int64(at.Day.Sub(r.log.began))
	made := attempts.Step{Kind: s.Kind, Task: s.Task, For: name, Until: until}
	if !sameStep(made, s.Step) {
		r.differs(replay.Wait, "", stepText(s.Step), stepText(made))
	}
	r.setMade(s.Step)
}
