package schedule

import "relay/attempts"

// Previous returns the last attempt at a task whose work the next one goes on from: one that was stopped through no
// fault of its agent, that changed protected files (its work is kept without these changes), ran out of time or
// context, or was refused or killed. Later attempts that were stopped before they left any work are passed over. It
// reports false if there is none, or if a person has reset the task since.
func Previous(record attempts.TaskRecord) (last attempts.Attempt, ok bool) {
	for i := len(record.Attempts) - 1; i >= record.CountFrom; i-- {
		a := record.Attempts[i]
		switch {
		case a.AwaitsReview():
			return a, true
		case (a.Outcome == attempts.Tamper || cutShort[a.Receipt.ErrorCategory]) && a.Receipt.Salvage != "" && a.Head != "":
			return a, true
		case a.Charged, !resumable[a.Outcome]:
			return a, false
		case a.Receipt.Salvage != "" && a.Head != "":
			return a, true
		}
	}
	return last, false
}

// MissingReviewers returns the reviewers whose opinions are all that the work on a task lacks; nil when it lacks more,
// or nothing.
func MissingReviewers(record attempts.TaskRecord) []string {
	last, ok := Previous(record)
	if !ok || !last.AwaitsReview() {
		return nil
	}
	var names []string
	for _, m := range last.Receipt.Review.Missing {
		names = append(names, m.Reviewer)
	}
	return names
}

// cutShort are the failures that say nothing against the work done until then.
var cutShort = map[attempts.Category]bool{
	attempts.ContextSpent: true, attempts.ModelRefused: true, attempts.AgentKilled: true, attempts.TimedOut: true,
}

// resumable are the outcomes after which the next attempt goes on from the work of the last one.
var resumable = map[attempts.Outcome]bool{
	attempts.Quota: true, attempts.Provider: true, attempts.Auth: true, attempts.Start: true, attempts.Budget: true, attempts.Stopped: true,
}
