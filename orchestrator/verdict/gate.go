package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/review"
)

// Limits say how often a task may be tried. A limit that is not positive means its default: nothing runs for ever.
type Limits struct {
	MaxAttempts  int // charged attempts; default 3
	MaxUncharged int // attempts that failed through no fault of the agent; default 10
}

const (
	defaultMaxAttempts  = 3
	defaultMaxUncharged = 10
)

// maxCostly is how often a task may end for a reason that waiting does not mend: each such attempt is an agent's full
// work, paid for and thrown away.
const maxCostly = 3

// Standing is what relay knows of a task when an attempt at it ends.
type Standing struct {
	Record     attempts.TaskRecord // without the attempt that has ended
	Limits     Limits
	PutOff     bool   // it was put off before, and nothing else is left to do
	MayChange  bool   // its next attempt would begin from something else than this one, or could
	Again      bool   // it began from the same as the failed one before it
	OverBudget string // why its budget is exhausted; "": it is not
	NoRunner   string // why no runner is left for it; "": one is
}

// GateOf decides whether an attempt's end gates its task, and returns nil if the task may be tried again. The gate has no time yet.
func GateOf(r Reported, ended attempts.Ended, s Standing) *attempts.Gate {
	gate := gateOfEnd(r, ended, s)
	if gate == nil && s.NoRunner != "" {
		gate = &attempts.Gate{Reason: attempts.Infrastructure, Detail: s.NoRunner}
	}
	return gate
}

// gateOfEnd leaves out of GateOf whether a runner is left.
func gateOfEnd(r Reported, ended attempts.Ended, s Standing) *attempts.Gate {
	if r.Gate != "" {
		return &attempts.Gate{Reason: r.Gate, Detail: ended.Receipt.ErrorSummary}
	}
	if r.Held {
		if s.PutOff { // it was before, and still cannot be done now that nothing else is left
			return &attempts.Gate{Reason: attempts.Infrastructure, Detail: ended.Receipt.ErrorSummary}
		}
		return nil
	}
	gate := GateAfter(s.Record, ended, s.Limits)
	if gate != nil && s.MayChange && !final(gate, ended, s) {
		gate = nil // see GateBefore
	}
	if gate == nil && ended.Result != attempts.ResultSuccess {
		gate = budgetGate(s.OverBudget)
	}
	return gate
}

// MayLack reports whether an attempt failed for something that is not there: its agent says so, or what it printed does.
func MayLack(e attempts.Ended) bool {
	failed := e.Result == attempts.ResultFailure && (e.Outcome == attempts.Agent || e.Outcome == attempts.Check)
	return failed && (e.Receipt.ErrorCategory == attempts.MissingDependency || plaintext.LacksSomething(e.Receipt.ErrorSummary))
}

// final reports whether a gate stands whatever the attempts began from. A task gets one attempt more than its limit when that has
// changed, unless the limit is one. The same error on something else says enough, unless it is that something is not there.
func final(gate *attempts.Gate, ended attempts.Ended, s Standing) bool {
	if gate.Reason == attempts.RepeatedFailure {
		return !s.Again && !MayLack(ended)
	}
	most := s.Limits.attempts()
	return gate.Reason != attempts.MaxAttempts || most == 1 || s.Record.Charges() >= most || !ended.Charged
}

// budgetGate returns a gate if there is a reason why the task's budget is exhausted, else nil.
func budgetGate(over string) *attempts.Gate {
	if over == "" {
		return nil
	}
	return &attempts.Gate{Reason: attempts.BudgetExhausted, Detail: over}
}

// GateAfter decides whether an attempt that has just ended gates its task; ended is not yet in rec. It returns nil for
// a task that may be tried again. When several rules hold, the first of these is given as the reason: tampered,
// quality_gate_blocked, max_attempts_exceeded, repeated_failure, infrastructure. (Attempt ledger, "Gating Rules".)
func GateAfter(rec attempts.TaskRecord, ended attempts.Ended, lim Limits) *attempts.Gate {
	if ended.Gate != nil {
		return ended.Gate
	}
	if ended.Result == attempts.ResultSuccess {
		return nil
	}
	most := lim.attempts()
	if !ended.Charged {
		return gateUncharged(rec, ended, lim)
	}
	n := rec.Charges() + 1
	switch {
	case ended.Outcome == attempts.Tamper && (n >= most || endedAs(rec, attempts.Tamper) > 0):
		return &attempts.Gate{Reason: attempts.TamperedWith, Detail: summary(ended.Receipt)}
	case ended.Receipt.Verdict == review.Blocked:
		return &attempts.Gate{Reason: attempts.QualityGateBlocked, Detail: summary(ended.Receipt)}
	case n >= most:
		return tooMany(n, most, ended.Receipt)
	}
	return repeated(rec, ended.Receipt)
}

// gateUncharged returns the gate that follows from an attempt that failed through no fault of its agent, or nil.
func gateUncharged(rec attempts.TaskRecord, ended attempts.Ended, lim Limits) *attempts.Gate {
	class := ClassOf(ended.Outcome)
	if class.neverGates || ended.Result == attempts.ResultInterrupted {
		return nil
	}
	most := cmp.Or(max(lim.MaxUncharged, 0), defaultMaxUncharged)
	n := Uncharged(rec) + 1
	if class.goesOn && n >= most {
		return &attempts.Gate{Reason: attempts.MaxAttempts, Detail: fmt.Sprintf("%d attempts left it unfinished; the last: %s", n, summary(ended.Receipt))}
	}
	if n >= most || class.costly && endedAs(rec, ended.Outcome)+1 >= maxCostly {
		return &attempts.Gate{Reason: attempts.Infrastructure, Detail: faultlessText(n, ended.Receipt)}
	}
	return nil
}

// GateBefore gates a task before its next attempt begins. Again says that the attempt would begin from the same as the last one: then a
// task that has had all its attempts, or fails in the same way, has no more to come; else it has one more than its limit, which may be
// lower than it was. Its budget may be exhausted for the reason given ("": it is not). Work that waits for its review needs no attempt.
func GateBefore(rec attempts.TaskRecord, lim Limits, overBudget string, again bool) *attempts.Gate {
	n, most, last := rec.Charges(), lim.attempts(), attempts.Receipt{}
	before := rec
	for i, a := range rec.Attempts {
		if a.Charged && i >= rec.CountFrom {
			last, before.Attempts = a.Receipt, rec.Attempts[:i]
		}
	}
	k := len(rec.Attempts)
	switch {
	case k > 0 && rec.Attempts[k-1].AwaitsReview():
	case n > most || n == most && (again || most == 1):
		return tooMany(n, most, last)
	case n > 0 && again:
		if gate := repeated(before, last); gate != nil {
			return gate
		}
	}
	return budgetGate(overBudget)
}

// PersonGate returns the gate of a task that only a person can do.
func PersonGate(task string) *attempts.Gate {
	return &attempts.Gate{Reason: attempts.UserBlocked, Detail: "only a person can do this; when it is done: relay approve " + task}
}

// mostReopened is how many attempts a task may have had for relay to lift its gate: attempts that are not charged would go on for ever.
const mostReopened = 10

// Reopens returns why relay lifts a gate of an earlier run, unless [GateBefore] still gates the task; "": it does not. The gate depends on
// the base, and tip is another one than that of the task's last attempt, or on what the sandbox refused the command that gated it, and that
// is allowed now. A gate for what a check lacked before any agent is lifted by each run. Other gates, and work that waits for its review,
// depend on none of these.
func Reopens(rec attempts.TaskRecord, tip string, allowed func(refused []string) bool) string {
	k := len(rec.Attempts)
	tried := slices.DeleteFunc(slices.Clone(rec.Attempts), func(a attempts.Attempt) bool { return a.Cause == string(causeCannotRun) })
	if rec.Gate == nil || k == 0 || len(tried) >= mostReopened {
		return ""
	}
	last, reasons := rec.Attempts[k-1], []attempts.Reason{attempts.MaxAttempts, attempts.RepeatedFailure, attempts.Infrastructure}
	switch {
	case !slices.Contains(reasons, rec.Gate.Reason) || last.AwaitsReview():
	case tip != "" && last.Base != "" && last.Base != tip:
		return "the base has changed since it was gated"
	case rec.Gate.Detail != last.Receipt.ErrorSummary:
	case last.Cause == string(causeCannotRun): // no agent is asked to find out
		return "what its check lacked may be there now"
	case last.Cause != string(causeRefused) || len(last.Receipt.Checks) == 0 || allowed == nil:
	case allowed(last.Receipt.Checks[len(last.Receipt.Checks)-1].Refused): // nothing ran after it
		return "your settings allow now what the sandbox refused it"
	}
	return ""
}

// Uncharged returns the number of attempts that ended without result through no fault of the agent. Attempts that relay
// itself stopped, also for a budget that was spent, are not among them, so that any number of Ctrl-C costs nothing.
func Uncharged(rec attempts.TaskRecord) int {
	return len(each.Where(rec.SinceReset(), func(a attempts.Attempt) (int, bool) {
		over := !a.EndedAt.IsZero() && a.Result != attempts.ResultSuccess && a.Result != attempts.ResultInterrupted
		return a.ID, over && !a.Charged && !ClassOf(a.Outcome).neverGates
	}))
}

// mostAsked is how often a run waits for a person's answer to the same task.
const mostAsked = 3

// AwaitsAnswer reports whether a run waits for a person's answer to a task that asked for one.
func AwaitsAnswer(rec attempts.TaskRecord) bool { return endedAs(rec, attempts.Asked) <= mostAsked }

// endedAs returns the number of attempts with this outcome since the last ungate or retry.
func endedAs(rec attempts.TaskRecord, o attempts.Outcome) int {
	return len(each.Where(rec.SinceReset(), func(a attempts.Attempt) (int, bool) { return a.ID, a.Outcome == o }))
}

// repeated gates a task whose last charged attempt failed with the same error, or whose last two errors are those of the two attempts
// before; uncharged ones in between prove nothing. Fewer failing tests than then are progress, whatever else was printed.
func repeated(rec attempts.TaskRecord, now attempts.Receipt) *attempts.Gate {
	past := []attempts.Receipt{now} // charged, the newest first
	for _, a := range slices.Backward(rec.SinceReset()) {
		if a.Charged {
			past = append(past, a.Receipt)
		}
	}
	same := func(i, before int) bool {
		cause := attempts.Cause(past[i])
		return cause != "" && cause == attempts.Cause(past[before]) && !fewerFailed(past[before], past[i])
	}
	switch {
	case len(past) > 1 && same(0, 1):
		return &attempts.Gate{Reason: attempts.RepeatedFailure, Detail: "the same error twice in a row: " + summary(now)}
	case len(past) > 3 && same(0, 2) && same(1, 3):
		return &attempts.Gate{Reason: attempts.RepeatedFailure, Detail: "the same two errors in turn; the last: " + summary(now)}
	}
	return nil
}

// fewerFailed reports whether a check that failed before fails with fewer tests now.
func fewerFailed(before, now attempts.Receipt) bool {
	return slices.ContainsFunc(now.Checks, func(c attempts.CheckRun) bool {
		return c.FailedOnWork() && slices.ContainsFunc(before.Checks, func(b attempts.CheckRun) bool {
			return b.FailedOnWork() && c.Name == b.Name && c.Tests().FewerFailed(b.Tests())
		})
	})
}

func (l Limits) attempts() int { return cmp.Or(max(l.MaxAttempts, 0), defaultMaxAttempts) }

func tooMany(n, most int, last attempts.Receipt) *attempts.Gate {
	return &attempts.Gate{Reason: attempts.MaxAttempts, Detail: fmt.Sprintf("%d of %d attempts failed; the last: %s", n, most, summary(last))}
}

// faultlessText returns the message of a gate after n attempts that failed through no fault of the agent, of which last is
// the newest.
func faultlessText(n int, last attempts.Receipt) string {
	detail := fmt.Sprintf("%s failed through no fault of the agent; the last: %s", plaintext.Count(n, "attempt"), summary(last))
	switch {
	case last.AwaitsReview():
		detail += "; when that is put right, relay ungate has what was done reviewed"
	case len(last.Contested) > 0:
		detail += "; after two conflicts in a file, tasks that declare it run one at a time: " + attempts.DeclaredFiles(last.Contested)
	}
	return detail
}

func summary(r attempts.Receipt) string {
	return plaintext.Capped(plaintext.FirstOf(r.ErrorSummary, string(r.ErrorCategory), r.Summary, "no reason given"), 500)
}
