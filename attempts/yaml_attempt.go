package attempts

import "relay/review"

// attemptYAML is an attempt as others may have written it.
type attemptYAML struct {
	ID        int      `yaml:"id"`
	StartedAt stamp    `yaml:"started_at"`
	EndedAt   stamp    `yaml:"ended_at"`
	Run       string   `yaml:"run"`
	Runner    string   `yaml:"runner"`
	Base      string   `yaml:"base"`
	Sealed    string   `yaml:"sealed"`
	Landing   *endYAML `yaml:"landing"`
	Undone    *Undone  `yaml:"undone"`
	endYAML   `yaml:",inline"`
	Rest      rest `yaml:",inline"`
}

// endYAML records how an attempt ended, or is about to.
type endYAML struct {
	Result  string  `yaml:"result"`
	Outcome Outcome `yaml:"outcome"`
	Cause   string  `yaml:"cause"`
	Charged *bool   `yaml:"charged"`
	Model   string  `yaml:"model"`
	Head    string  `yaml:"head"`
	Landed  string  `yaml:"landed"`
	Session string  `yaml:"session_id"`
	Usage   *Usage  `yaml:"usage"`
	Receipt struct {
		Receipt `yaml:",inline"`
		Rest    rest `yaml:",inline"`
	} `yaml:"receipt"`
}

// YAMLForm returns how an attempt that still runs is about to end.
func (e *Ended) YAMLForm() any {
	y := endYAML{
		Result: string(e.Result), Outcome: e.Outcome, Cause: e.Cause, Charged: &e.Charged, Model: e.Model, Head: e.Head, Landed: e.Landed,
		Session: e.Session, Usage: e.Usage,
	}
	y.Receipt.Receipt = e.Receipt
	return &y
}

func (y *attemptYAML) attempt(i int) Attempt {
	e := y.ended(!y.EndedAt.IsZero())
	a := Attempt{
		ID: y.ID, StartedAt: y.StartedAt.Time, EndedAt: y.EndedAt.Time, Result: e.Result, Outcome: e.Outcome, Cause: e.Cause, Charged: e.Charged,
		Run: y.Run, Runner: y.Runner, Model: e.Model, Base: y.Base, Sealed: y.Sealed, Head: e.Head, Landed: e.Landed,
		Session: e.Session, Usage: e.Usage, Receipt: e.Receipt, Extra: y.Rest.text(),
	}
	if a.ID <= 0 {
		a.ID = i + 1
	}
	if a.Undone = y.Undone; a.Undone != nil {
		a.Undone.Check.Seconds = finite(a.Undone.Check.Seconds)
	}
	if y.Landing != nil {
		landing := y.Landing.ended(true)
		a.land(&landing)
	}
	return a
}

// ended decides what the program that wrote this has left open; over says that the attempt has an end.
func (y *endYAML) ended(over bool) Ended {
	e := Ended{
		Result: Result(y.Result), Outcome: y.Outcome, Cause: y.Cause, Head: y.Head, Landed: y.Landed, Model: y.Model, Session: y.Session,
		Usage: y.Usage, Receipt: y.Receipt.Receipt,
	}
	r := &e.Receipt
	r.Extra = y.Receipt.Rest.text()
	r.categorise()
	e.Usage = copied(e.Usage, (*Usage).canonical)
	for i := range r.Checks {
		r.Checks[i].Seconds = finite(r.Checks[i].Seconds)
	}
	switch e.Result {
	case ResultSuccess, ResultFailure, ResultInProgress, ResultInterrupted:
	case "":
		e.Result = ResultInterrupted
		if over || r.ErrorCategory != "" {
			e.Result = ResultFailure
		}
	default:
		if r.ErrorSummary == "" {
			r.ErrorSummary = "result: " + y.Result
		}
		e.Result = ResultFailure
	}
	if e.Outcome == "" {
		e.Outcome = outcomeOf(e.Result, r)
	}
	e.Charged = e.Result == ResultFailure && e.Outcome.Charged()
	if y.Charged != nil {
		e.Charged = *y.Charged
	}
	return e
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
		BudgetSpent, Interrupted:
		return true
	}
	return false
}
