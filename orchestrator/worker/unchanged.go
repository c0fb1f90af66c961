package worker

import (
	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// allowsNoChange reports whether a success that has changed nothing may go on, and else fails it. That is what the task allows, or the task was done already: then its
// checks have to say so too.
func (c verifier) allowsNoChange(a engine.Attempt, f *state) (goesOn bool) {
	switch {
	case a.Task.AllowNoChange, a.Task.Kind == epic.KindReview:
		return true
	case f.noResult != nil: // checks that pass without any work say nothing of it
		f.revertPresumed()
		return false
	case len(a.Task.Checks) == 0:
		c.failWithoutChange(f, "")
		return false
	}
	f.Receipt.AlreadyDone = true
	return true
}

// failWithoutChange fails an attempt that claims success and has changed nothing.
func (c verifier) failWithoutChange(f *state, more string) {
	why := "the agent claims success, but nothing has changed"
	if len(f.left.untracked) > 0 {
		why += " but " + text.Listed(f.left.untracked) + ", which is no part of the work"
	} else if outside := c.tree.Outside(); len(outside) > 0 {
		why += " but " + text.Listed(outside) + ", which git does not take into a commit"
	}
	f.Receipt.AlreadyDone = false
	f.Fail(attempts.Agent, attempts.NoChange, why+more)
}

// failIfNotDone fails an attempt that says its task was done already when a check says that it was not.
func (c verifier) failIfNotDone(f *state) {
	if f.Receipt.AlreadyDone && f.Receipt.ErrorCategory == attempts.TestFailure {
		c.failWithoutChange(f, ", and "+f.Receipt.ErrorSummary)
	}
}

// provedByNothing ends an attempt at a task whose checks passed before the work, though some of them, named here, had to fail then:
// they cannot prove it, and its agent has not found it done already.
func (f *state) provedByNothing(named []string) {
	claimed := f.Outcome == attempts.Success || f.Outcome == attempts.Agent
	if len(named) == 0 || !claimed || f.noResult != nil || f.Receipt.AlreadyDone {
		return
	}
	why := checks.PassesBefore(text.Listed(named))
	if f.Outcome == attempts.Agent {
		why += "; its agent: " + f.Receipt.ErrorSummary
	}
	f.Fail(attempts.Environment, attempts.TestFailure, why)
	f.Gate = attempts.Infrastructure
}
