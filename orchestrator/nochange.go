package orchestrator

import (
	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/words"
)

// nothing looks at a success that has changed nothing. That is what the task allows, or the task was done already: then its
// checks have to say so too.
func (c *checkout) nothing(a Assignment, f *Finding) (goesOn bool) {
	switch {
	case a.Task.AllowNoChange, a.Task.Kind == epic.KindReview:
		return true
	case f.unsaid != nil: // checks that pass without any work say nothing of it
		f.unproven()
		return false
	case len(a.Task.Checks) == 0:
		c.idle(f, "")
		return false
	}
	f.Receipt.AlreadyDone = true
	return true
}

// idle fails an attempt that claims success and has changed nothing.
func (c *checkout) idle(f *Finding, more string) {
	why := "the agent claims success, but nothing has changed"
	if len(f.left.untracked) > 0 {
		why += " but " + words.Listed(f.left.untracked) + ", which is no part of the work"
	} else if outside := c.tree.Outside(); len(outside) > 0 {
		why += " but " + words.Listed(outside) + ", which git does not take into a commit"
	}
	f.Receipt.AlreadyDone = false
	f.fail(attempts.Agent, attempts.NoChange, why+more)
}

// refute fails an attempt that says its task was done already when a check says that it was not.
func (c *checkout) refute(f *Finding) {
	if f.Receipt.AlreadyDone && f.Receipt.ErrorCategory == attempts.TestFailure {
		c.idle(f, ", and "+f.Receipt.ErrorSummary)
	}
}
