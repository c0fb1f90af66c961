package panel

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/runners"
)

// UnableError means that a reviewer has given no opinion. None of it is the agent's fault.
type UnableError struct {
	name       string
	outcome    attempts.Outcome
	category   attempts.Category
	detail     string
	resetAt    time.Time
	noNewFault bool // its end says nothing new of its runner
}

func (e *UnableError) Error() string { return "reviewer " + e.name + ": " + e.detail }

// unableTo reports why a reviewer could not be asked.
func unableTo(name string, r runners.Report) *UnableError {
	row := engine.OutcomeOf(r.Outcome)
	e := &UnableError{
		name: name, outcome: attempts.Environment, category: row.Category, detail: text.FirstOf(r.Detail, row.Words), resetAt: r.ResetAt,
	}
	switch row.Outcome {
	case attempts.Stopped, attempts.Quota, attempts.Provider, attempts.Auth, attempts.Start:
		e.outcome = row.Outcome
	default: // the task is not at fault: the environment is
	}
	return e
}

// closed reports why a reviewer is not to be asked now, as far as that was known when the attempt began; nil when it may
// be.
func closed(a engine.Attempt, name string, now time.Time) *UnableError {
	c, yes := a.NotBefore(name, now)
	if !yes {
		return nil
	}
	e := &UnableError{
		name: name, outcome: attempts.Provider, category: attempts.RateLimited, noNewFault: true,
		detail: fmt.Sprintf("not asked before %s%s", text.Stamp(c.Until), text.Because(c.Why)),
	}
	if c.Named {
		e.outcome = attempts.Quota
	}
	return e
}

// RecordMissing writes into a result who has given no opinion, and what that says of them.
func (a Answers) RecordMissing(f *engine.Result) {
	f.Unable = slices.DeleteFunc(f.Unable, func(u engine.Unable) bool { // in an earlier round
		return slices.ContainsFunc(a.Opinions, func(s attempts.Opinion) bool { return s.Reviewer == u.Name })
	})
	r := f.Receipt.Review
	for _, e := range a.Missing {
		r.Missing = append(r.Missing, attempts.Missing{Reviewer: e.name, Why: e.detail})
		if !e.noNewFault && e.outcome != attempts.Stopped {
			f.Unable = append(f.Unable, engine.Unable{Name: e.name, Why: e.detail, ResetAt: e.resetAt, Outcome: e.outcome})
		}
	}
}

// Limits returns what reviewers were told of their limits in an earlier round.
func Limits(unable []engine.Unable) []attempts.Cooldown {
	var list []attempts.Cooldown
	for _, u := range unable {
		list = append(list, attempts.Cooldown{Runner: u.Name, Until: u.ResetAt, Named: true, Why: u.Why})
	}
	return list
}

// FailUnreviewed ends an attempt that lacks opinions: uncharged, with its work kept for the review that is still to come. At least
// one reviewer must be missing.
func (a Answers) FailUnreviewed(f *engine.Result) {
	worst, why := a.Missing[0], make([]string, len(a.Missing))
	for i, e := range a.Missing {
		why[i] = e.Error()
		if severity(e.outcome) > severity(worst.outcome) {
			worst = e
		}
	}
	f.Fail(worst.outcome, worst.category, strings.Join(why, "; "))
}

// severity ranks outcomes by how little waiting helps; a run that stops ends everything.
func severity(o attempts.Outcome) int {
	switch o {
	case attempts.Stopped:
		return 2
	case attempts.Environment, attempts.Auth, attempts.Start:
		return 1
	default:
		return 0
	}
}
