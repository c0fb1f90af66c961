package panel

import (
	"fmt"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/orchestrator/verdict"
	"relay/runners"
)

// UnableError means that a reviewer has given no opinion. None of it is the agent's fault.
type UnableError struct {
	name    string
	fault   verdict.ReviewerFault
	detail  string
	resetAt time.Time
}

func (e *UnableError) Error() string { return "reviewer " + e.name + ": " + e.detail }

// unableTo reports why a reviewer could not be asked.
func unableTo(name string, r runners.Report) *UnableError {
	fault := verdict.ReviewerEnd(r.Outcome)
	return &UnableError{name: name, fault: fault, detail: text.FirstOf(r.Detail, fault.Words), resetAt: r.ResetAt}
}

// closed reports why a reviewer is not to be asked now, as far as that was known when the attempt began; nil when it may
// be.
func closed(a engine.Attempt, name string, now time.Time) *UnableError {
	c, yes := a.NotBefore(name, now)
	if !yes {
		return nil
	}
	detail := fmt.Sprintf("not asked before %s%s", text.Stamp(c.Until), text.Because(c.Why))
	return &UnableError{name: name, fault: verdict.ReviewerClosed(c.Named), detail: detail}
}

// RecordMissing writes into a result who has given no opinion, and what that says of them.
func (a Answers) RecordMissing(f *engine.Result) {
	f.Unable = slices.DeleteFunc(f.Unable, func(u engine.Unable) bool { // in an earlier round
		return slices.ContainsFunc(a.Opinions, func(s attempts.Opinion) bool { return s.Reviewer == u.Name })
	})
	r := f.Receipt.Review
	for _, e := range a.Missing {
		r.Missing = append(r.Missing, attempts.Missing{Reviewer: e.name, Why: e.detail})
		if e.fault.News {
			f.Unable = append(f.Unable, engine.Unable{Name: e.name, Why: e.detail, ResetAt: e.resetAt, Outcome: e.fault.Outcome})
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

// Absent lists who has given no opinion.
func (a Answers) Absent() []verdict.Absent {
	list := make([]verdict.Absent, len(a.Missing))
	for i, e := range a.Missing {
		list[i] = verdict.Absent{Fault: e.fault, Why: e.Error()}
	}
	return list
}
