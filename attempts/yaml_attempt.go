package attempts

import (
	"cmp"

	"relay/review"
)

// attemptYAML is an attempt as others may have written it.
type attemptYAML struct {
	Attempt   `yaml:",inline"`
	StartedAt stamp `yaml:"started_at"`
	EndedAt   stamp `yaml:"ended_at"`
	Charged   *bool `yaml:"charged"`
	Receipt   struct {
		Receipt `yaml:",inline"`
		Rest    rest `yaml:",inline"`
	} `yaml:"receipt"`
	Landing *attemptYAML `yaml:"landing"`
	Rest    rest         `yaml:",inline"`
}

func (y *attemptYAML) attempt(i int) Attempt {
	a := y.Attempt
	a.StartedAt, a.EndedAt, a.Extra = y.StartedAt.Time, y.EndedAt.Time, y.Rest.text()
	y.end(&a, !a.EndedAt.IsZero())
	if a.ID <= 0 {
		a.ID = i + 1
	}
	if a.Undone != nil {
		a.Undone.Check.Seconds = finite(a.Undone.Check.Seconds)
	}
	if y.Landing != nil {
		in := y.Landing.Attempt
		y.Landing.end(&in, true)
		a.land(&Ended{
			Result: in.Result, Outcome: in.Outcome, Cause: in.Cause, Charged: in.Charged, Head: in.Head, Landed: in.Landed, Model: in.Model,
			Session: in.Session, Usage: in.Usage, Receipt: in.Receipt,
		})
	}
	return a
}

// end decides what the program that wrote this has left open of an end; over says that there is one.
func (y *attemptYAML) end(a *Attempt, over bool) {
	a.Receipt = y.Receipt.Receipt
	r := &a.Receipt
	r.Extra = y.Receipt.Rest.text()
	r.categorise()
	a.Usage = copied(a.Usage, (*Usage).canonical)
	for i := range r.Checks {
		r.Checks[i].Seconds = finite(r.Checks[i].Seconds)
	}
	switch a.Result {
	case ResultSuccess, ResultFailure, ResultInProgress, ResultInterrupted:
	case "":
		a.Result = ResultInterrupted
		if over || r.ErrorCategory != "" {
			a.Result = ResultFailure
		}
	default:
		r.ErrorSummary = cmp.Or(r.ErrorSummary, "result: "+string(a.Result))
		a.Result = ResultFailure
	}
	a.Outcome = cmp.Or(a.Outcome, outcomeOf(a.Result, r))
	a.Charged = a.Result == ResultFailure && a.Outcome.Charged()
	if y.Charged != nil {
		a.Charged = *y.Charged
	}
}

// categorise makes a code_error of a category that is an agent's own words, and keeps the words.
func (r *Receipt) categorise() {
	if r.ErrorCategory == "" || isCategory(r.ErrorCategory) {
		return
	}
	text := string(r.ErrorCategory)
	if r.ErrorSummary != "" && r.ErrorSummary != text {
		text += ": " + r.ErrorSummary
	}
	r.ErrorCategory, r.ErrorSummary = CodeError, text
}

// outcomeOf reports who is to blame for an attempt of a program that did not record it.
func outcomeOf(result Result, r *Receipt) Outcome {
	switch result {
	case ResultSuccess:
		return Success
	case ResultInterrupted:
		return Stopped
	case ResultInProgress:
		return ""
	default: // a failure: its receipt tells of which kind
	}
	switch {
	case r.ErrorCategory == TestFailure:
		return Check
	case r.ErrorCategory == QualityGate, r.Verdict == review.NeedsChanges, r.Verdict == review.Blocked:
		return Review
	case r.ErrorCategory == TimedOut:
		return Timeout
	case r.ErrorCategory == Tampered:
		return Tamper
	}
	return Agent
}

func isCategory(c Category) bool {
	switch c {
	case MissingDependency, CodeError, TestFailure, QualityGate, CLIError, TimedOut, NoResult, NoChange, ContextSpent,
		TurnsSpent, ModelUnknown, ModelRefused, AgentKilled, Conflicted, Tampered, RateLimited, ProviderError, AuthError,
		BudgetSpent, Interrupted, Question:
		return true
	}
	return false
}
