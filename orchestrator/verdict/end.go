package verdict

import "relay/attempts"

// Reported is what an engine reports of an attempt that has ended.
type Reported struct {
	Outcome attempts.Outcome
	Receipt attempts.Receipt
	Charged bool            // the task is charged even if its outcome alone is not
	Gate    attempts.Reason // the task is gated for this; "": GateOf decides
	Held    bool            // relay asked no agent: a check of the task cannot run here
}

// Ended is what the ledger records of such a report.
type Ended struct {
	Result  attempts.Result
	Charged bool
}

// End decides how the ledger records an attempt.
func End(r Reported) Ended {
	return Ended{Result: ClassOf(r.Outcome).Result, Charged: r.Charged || r.Outcome.Charged()}
}

// TaskStep is what becomes of a task after an attempt.
type TaskStep int

// Steps of a task.
const (
	TaskRetries   TaskStep = iota // another attempt follows
	TaskCompleted                 // it is done
	TaskGated                     // no attempt follows until a person or a change lifts the gate
	TaskPutOff                    // it is tried again after all other tasks
)

// After is what follows from an attempt's end for its task and for the run.
type After struct {
	Task      TaskStep
	Stopped   bool // relay or a person interrupted the attempt
	Contested bool // others have changed files of the work
	Blamed    bool // the circuit breaker counts it as a failure of the task
	Uncharged bool // the run's limit of uncharged attempts counts it
}

// Follow decides what follows from an attempt's end, as recorded with its charge and gate.
func Follow(r Reported, e attempts.Ended) After {
	class := ClassOf(r.Outcome)
	a := After{Stopped: class.Stopped, Contested: e.Outcome == attempts.Conflict}
	switch {
	case e.Result == attempts.ResultSuccess:
		return After{Task: TaskCompleted, Stopped: class.Stopped}
	case e.Gate != nil:
		a.Task = TaskGated
	case r.Held:
		a.Task = TaskPutOff
	default: // it is tried again
	}
	if r.Held { // no agent has worked
		return a
	}
	a.Blamed = blamed(class, e)
	a.Uncharged = !e.Charged && !e.Outcome.Charged() && !class.free
	return a
}

// blamed reports whether an attempt's end is a failure of the task: not of its runner, its reviewers or its merge with others,
// nor a question.
func blamed(class Class, e attempts.Ended) bool {
	if e.Outcome == attempts.Conflict || e.Outcome == attempts.Asked || class.Runner == RunnerFailed || e.Receipt.AwaitsReview() {
		return false
	}
	return e.Charged || e.Outcome.Charged() || e.Gate != nil || class.machine
}

// Asked is how an attempt used its runner.
type Asked struct {
	Runner     bool // it had one
	OnlyReview bool // it began with the review of earlier work
	Recovered  bool // its agent had ended under a run that was killed
}

// SignOf decides what an attempt's end shows about its runner.
func SignOf(r Reported, asked Asked) RunnerSign {
	sign := ClassOf(r.Outcome).Runner
	switch {
	case r.Receipt.AwaitsReview(): // its reviewers failed, not its runner
		if asked.Runner && !asked.OnlyReview {
			return RunnerAnswered
		}
		return RunnerSilent
	case sign == RunnerAnswered && (!asked.Runner || asked.Recovered):
		return RunnerSilent
	}
	return sign
}
