package attempts

import (
	"fmt"
	"strings"

	"relay/attempts/internal/yamltext"
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

// neverGates reports whether an attempt was stopped by relay itself or refused by its runner. Such attempts never gate a task.
func neverGates(o Outcome) bool { return o == Stopped || o == Budget || o == Auth || o == Start }

func costly(o Outcome) bool { return o == Environment || o == Conflict }

// GateAfter decides whether an attempt that has just ended gates its task; ended is not yet in rec. It returns nil for
// a task that may be tried again. When several rules hold, the first of these is given as the reason: tampered,
// quality_gate_blocked, max_attempts_exceeded, repeated_failure, infrastructure. (Attempt ledger, "Gating Rules".)
func GateAfter(rec TaskRecord, ended Ended, lim Limits) *Gate {
	if ended.Gate != nil {
		return ended.Gate
	}
	if ended.Result == ResultSuccess {
		return nil
	}
	most := lim.attempts()
	if !ended.Charged {
		return rec.gateUncharged(ended, lim)
	}
	n := rec.Charges() + 1
	switch {
	case ended.Outcome == Tamper && (n >= most || rec.hasTampered()):
		return &Gate{Reason: TamperedWith, Detail: summary(ended.Receipt)}
	case ended.Receipt.Verdict == review.Blocked:
		return &Gate{Reason: QualityGateBlocked, Detail: summary(ended.Receipt)}
	case n >= most:
		return tooMany(n, most, ended.Receipt)
	case repeated(rec, ended.Receipt):
		return &Gate{Reason: RepeatedFailure, Detail: "the same error twice in a row: " + summary(ended.Receipt)}
	}
	return nil
}

// gateUncharged returns the gate that follows from an attempt that failed through no fault of its agent, or nil.
func (rec TaskRecord) gateUncharged(ended Ended, lim Limits) *Gate {
	if neverGates(ended.Outcome) || ended.Result == ResultInterrupted {
		return nil
	}
	most := lim.MaxUncharged
	if most <= 0 {
		most = defaultMaxUncharged
	}
	n := rec.Uncharged() + 1
	if n >= most || costly(ended.Outcome) && rec.endedAs(ended.Outcome)+1 >= maxCostly {
		return &Gate{Reason: Infrastructure, Detail: faultlessText(n, ended.Receipt)}
	}
	return nil
}

// hasTampered reports whether an attempt of the task has ended as tampered before.
func (rec TaskRecord) hasTampered() bool { return rec.endedAs(Tamper) > 0 }

// GateBefore gates a task that has had all its attempts before the next one begins: the limit may be lower than it was. Work
// that only waits for its review needs none.
func GateBefore(rec TaskRecord, lim Limits) *Gate {
	n, most, last := rec.Charges(), lim.attempts(), Receipt{}
	for _, a := range rec.sinceReset() {
		if a.Charged {
			last = a.Receipt
		}
	}
	if k := len(rec.Attempts); n < most || rec.Attempts[k-1].AwaitsReview() {
		return nil
	}
	return tooMany(n, most, last)
}

func (l Limits) attempts() int {
	if l.MaxAttempts <= 0 {
		return defaultMaxAttempts
	}
	return l.MaxAttempts
}

func tooMany(n, most int, last Receipt) *Gate {
	return &Gate{Reason: MaxAttempts, Detail: fmt.Sprintf("%d of %d attempts failed; the last: %s", n, most, summary(last))}
}

// faultlessText returns the message of a gate after n attempts that failed through no fault of the agent, of which last is
// the newest.
func faultlessText(n int, last Receipt) string {
	detail := fmt.Sprintf("%d attempts failed through no fault of the agent; the last: %s", n, summary(last))
	switch {
	case last.AwaitsReview():
		detail += "; when that is put right, relay ungate has what was done reviewed"
	case len(last.Contested) > 0:
		detail += "; tasks that declare the same files, or depend on each other, do not run at once: " + declared(last.Contested)
	}
	return detail
}

// mostDeclared is how many files a gate names.
const mostDeclared = 10

// declared returns the line of epic.yml by which a task declares files.
func declared(files []string) string {
	shown := make([]string, 0, mostDeclared)
	for _, file := range files[:min(len(files), mostDeclared)] {
		shown = append(shown, yamltext.Scalar(Clean(file, 200)))
	}
	if len(files) > mostDeclared {
		shown = append(shown, "…")
	}
	return "files: [" + strings.Join(shown, ", ") + "]"
}

func summary(r Receipt) string {
	for _, s := range []string{r.ErrorSummary, string(r.ErrorCategory), r.Summary} {
		if s != "" {
			return Clean(s, 500)
		}
	}
	return "no reason given"
}
