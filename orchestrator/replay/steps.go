package replay

import (
	"errors"
	"fmt"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
	"relay/orchestrator/verdict"
)

// take repeats one step. It reports false if the log says too little to continue.
func (r *replayer) take(s recordedStep) bool {
	state, now := r.s, r.at
	if state.Plan == nil && !beforePlan[s.Kind] {
		return false
	}
	switch s.Kind {
	case attempts.StepPlanned:
		state.PlanTasks(r.wanted)
	case attempts.StepReopened:
		r.s.Dispatcher.Reopen(r.open, now)
	case attempts.StepTaken:
		r.s.Dispatcher.NextOpen(r.ctx, now)
	case attempts.StepChosen, attempts.StepWaited, attempts.StepRetried, attempts.StepStopped, attempts.StepExhausted:
		r.decideStep(s)
	case attempts.StepOver:
		r.over = true
		state.Step(now, attempts.Step{Kind: attempts.StepOver})
	case attempts.StepUsed:
		r.used(s)
	case attempts.StepRequested:
		return r.requested(s)
	case attempts.StepSuspected: // nothing follows from it
		state.Step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Runner: s.Runner})
	case attempts.StepAnswered:
		r.report.Made(Runner)
		if state.Pool.NoteActivity(s.Runner, s.Task, now) {
			state.Step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Runner: s.Runner})
		} else {
			r.differs(Runner, s.Task, s.Runner+" is asked again", s.Runner+" is not asked again")
		}
	default:
		return r.takeAttempt(s)
	}
	return true
}

// requested applies a person's request. It is not a decision, but others depend on it.
func (r *replayer) requested(s recordedStep) bool {
	events := r.log.askedBy(s.carrier)
	if len(events) == 0 {
		return false
	}
	r.s.Step(r.at, attempts.Step{Kind: s.Kind, Task: s.Task, For: s.For})
	for _, e := range events {
		r.memory.Fold(e)
	}
	r.s.Requests.Apply(r.at, s.Task, attempts.RequestKind(s.For))
	return true
}

// takeAttempt is take for steps of one attempt or of several.
func (r *replayer) takeAttempt(s recordedStep) bool {
	state, now := r.s, r.at
	index, known := r.rec.Graph.Index(s.Task)
	switch s.Kind {
	case attempts.StepAsked:
		r.report.Made(Runner)
		if _, again := state.Pool.Begin(s.Runner, s.Task, now); !again {
			r.differs(Runner, s.Task, s.Runner+" is asked again", s.Runner+" is not asked again")
		}
		state.Step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Runner: s.Runner})
	case attempts.StepJoined:
		joined(r)
	case attempts.StepSplit:
		split(r, s)
	case attempts.StepLanded:
		landed(r, s)
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
	state, now := r.s, r.at
	switch s.Kind {
	case attempts.StepRequeued:
		state.Step(now, attempts.Step{Kind: s.Kind, Task: s.Task})
		state.Pool.Release(s.Task)
		state.Plan.Requeue(index)
	case attempts.StepRefused:
		r.refused(s, index)
	case attempts.StepProved:
		v := verified(r, s.Step, r.log.files(s.Step))
		if !s.Recovered {
			state.Pool.Answered(runnerOf(r, s), s.Task, now)
		}
		if r.s.Queue == nil {
			return false
		}
		r.s.Queue.Enqueue(decide.Queued{Verified: v, Job: decide.Job{Index: index}}, now)
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
		r.s.Judge.Found(verified(r, s.Step, nil).Attempt, e.Ended)
	case attempts.StepClosed:
		state.Step(now, attempts.Step{Kind: s.Kind, Task: s.Task, Attempt: s.Attempt})
		r.s.Limits.Budget.End(s.Task, r.last[s.Task].result.Usage, false)
	default:
		return false // of a newer relay
	}
	return true
}

// decideStep decides what is to start, and puts what was recorded in the place of anything else.
func (r *replayer) decideStep(s recordedStep) {
	state := r.s
	r.report.Made(decisionOf(s.Kind))
	if s.Kind == attempts.StepWaited && s.Task == engine.WholeEpic {
		r.waitedForPanel(s)
		return
	}
	m := r.s.Limits
	if s.Kind == attempts.StepStopped && s.For == string(decide.Deadline) && m.Deadline != nil && m.Deadline.Rest(r.at) <= 0 {
		m.Expire()
		r.stopped = true
		return
	}
	kept := r.s.Dispatcher.Kept()
	next, _, err := r.Decide(r.s.Dispatcher, r.at)
	made := r.made()
	if s.Kind == attempts.StepChosen {
		r.chosen(s, next, made, err)
		return
	}
	r.stopped = s.Kind == attempts.StepStopped || s.Kind == attempts.StepExhausted
	if len(made) > 0 && next.Index < 0 && sameStep(made[0], s.Step) {
		return
	}
	kept()
	r.differs(decisionOf(s.Kind), s.Task, stepText(s.Step), decidedText(state.Plan, next, made, err))
	r.s.Dispatcher.Force(s.Step)
	r.setMade(s.Step)
}

// chosen holds the task that would start now against the one that has started, which then does.
func (r *replayer) chosen(s recordedStep, next decide.Choice, made []attempts.Step, err error) {
	state := r.s
	index, ok := r.rec.Graph.Index(s.Task)
	if !ok {
		return
	}
	if len(made) > 0 || err != nil || next.Index != index || next.Runner != s.Runner {
		r.differs(Start, s.Task, startText(s.Task, s.Runner), decidedText(state.Plan, next, made, err))
		r.setMade()
	}
	record := r.memory.Task(s.Task)
	r.s.Dispatcher.Begin(decide.Choice{Index: index, Runner: s.Runner}, r.at)
	task := state.Plan.Task(index)
	r.s.Limits.Begin(task, record.UsedSince(), func(error) {})
	if e, ok := r.log.started[attemptID{s.Task, len(record.Attempts) + 1}]; ok {
		if gate := r.s.Judge.ExhaustedGate(task, record); gate != nil {
			r.differs(Gate, s.Task, "its attempt begins", gateText(gate))
		}
		r.memory.Fold(e)
	}
}

// decidedText says in words what was decided.
func decidedText(plan *schedule.Schedule, next decide.Choice, made []attempts.Step, err error) string {
	var none *decide.NoRunnerError
	switch {
	case errors.As(err, &none):
		return none.Error()
	case len(made) > 0:
		return stepText(made[0])
	case next.Index >= 0:
		return startText(plan.Task(next.Index).ID, next.Runner)
	}
	return "nothing starts"
}

// runnerOf returns the runner of an attempt, by the record.
func runnerOf(r *replayer, s recordedStep) string {
	for _, a := range r.memory.Task(s.Task).Attempts {
		if a.ID == s.Attempt {
			return a.Runner
		}
	}
	return ""
}

// refused gates a task before its attempt begins.
func (r *replayer) refused(s recordedStep, index int) {
	r.report.Made(Gate)
	gate := r.s.Judge.ExhaustedGate(r.s.Plan.Task(index), r.memory.Task(s.Task))
	list := r.log.gated[s.Task]
	if len(list) > 0 {
		then := list[0]
		r.log.gated[s.Task] = list[1:]
		if !sameGate(gate, then.Gate) {
			r.differs(Gate, s.Task, gateText(then.Gate), gateText(gate))
		}
		r.memory.Fold(then)
	}
	r.s.Limits.Over(s.Task)
	r.s.Judge.Refuse(index)
}

// used has attempts tell what they have used.
func (r *replayer) used(s recordedStep) {
	r.report.Made(Budget)
	m := r.s.Limits
	for i, u := range s.Used {
		if i < len(s.Used)-1 {
			m.Told(u) // the last one has the consequences
			continue
		}
		m.RecordUsage(engine.Event{Task: u.Task, Usage: u.Usage, Delivered: s.Task == ""})
	}
	if len(r.made()) == 0 {
		r.differs(Budget, s.Task, stepText(s.Step), "the budget is not used up")
		r.setMade(s.Step)
	}
	r.stopped = r.stopped || m.ExhaustedBy != nil
}

// waitedForPanel holds what the review of the whole epic waits for against what was recorded.
func (r *replayer) waitedForPanel(s recordedStep) {
	kept := r.s.Dispatcher.Kept()
	_, open, err := r.s.Dispatcher.WaitForPanel(r.at)
	made := r.made()
	if len(made) == 1 && sameStep(made[0], s.Step) {
		return
	}
	kept()
	now := decidedText(r.s.Plan, decide.Choice{Index: -1}, made, err)
	if open {
		now = "the reviewers are asked"
	}
	r.differs(Wait, "", stepText(s.Step), now)
	r.s.Dispatcher.Force(s.Step)
	r.setMade(s.Step)
}

// rule decides again on the evidence of every attempt that has some in the log, and reports rulings that differ.
func rule(r *replayer) {
	for _, id := range sortedIDs(r.log.ends) {
		event := r.log.ends[id]
		if event.Ended == nil || len(event.Ended.Evidence) == 0 {
			continue
		}
		e, err := verdict.ReadRecord(event.Ended.Evidence)
		if err != nil {
			r.report.Cannot(Ruling, id.task, unreadable)
			continue
		}
		r.report.Made(Ruling)
		then := rulingText(verdict.Cause(event.Ended.Cause), event.Ended.Outcome)
		ruling, lacks := verdict.Decide(e)
		if e.Landing != nil {
			ruling, lacks = verdict.DecideLanding(e), verdict.Nothing
		}
		now := rulingText(ruling.Cause, ruling.Outcome)
		if lacks == verdict.Nothing {
			r.report.Causes[ruling.Cause]++
		} else {
			now = fmt.Sprintf("no row rules, because the evidence lacks %q", lacks)
		}
		if now != then {
			r.report.Differs(Difference{Decision: Ruling, At: event.At, Task: id.task, Then: then, Now: now})
		}
	}
}

// rulingText names the row that ruled, and the outcome.
func rulingText(c verdict.Cause, o attempts.Outcome) string { return fmt.Sprintf("%q ruled: %s", c, o) }
