package verdict

import (
	"cmp"
	"slices"

	"relay/attempts"
)

// Previous returns the last attempt at a task from whose work the next one continues: one that was stopped through no
// fault of its agent, that changed protected files (its work is kept without these changes), ran out of time or
// context, or was refused or killed; also one that asked a person, whether it left work or not. It skips later attempts
// that were stopped before they left any work. It reports false if there is none, or if a person has reset the task since.
func Previous(record attempts.TaskRecord) (last attempts.Attempt, ok bool) {
	for i := len(record.Attempts) - 1; i >= record.CountFrom; i-- {
		a := record.Attempts[i]
		kept := a.Receipt.Salvage != "" && a.Head != ""
		switch {
		case a.AwaitsReview(), a.Outcome == attempts.Asked:
			return a, true
		case (a.Outcome == attempts.Tamper || cutShort[a.Receipt.ErrorCategory]) && kept:
			return a, true
		case a.Charged, !ClassOf(a.Outcome).resumes:
			return a, false
		case kept:
			return a, true
		}
	}
	return last, false
}

// cutShort are the failures that say nothing against the work done until then.
var cutShort = map[attempts.Category]bool{
	attempts.ContextSpent: true, attempts.TurnsSpent: true, attempts.ModelRefused: true, attempts.AgentKilled: true, attempts.TimedOut: true,
}

// IsUnfinished reports whether an attempt did a part of the task, and the next one continues from that whatever has landed meanwhile.
func IsUnfinished(before *attempts.Attempt) bool { return ClassOf(before.Outcome).goesOn }

// Continued returns the attempt whose session the next one continues: the last, or the last before those that continued it and ended
// through no fault of the agent, if it asked and a person has answered; nil: none.
func Continued(rec attempts.TaskRecord) *attempts.Attempt {
	newest := ""
	for _, a := range slices.Backward(rec.SinceReset()) {
		newest = cmp.Or(newest, a.Session)
		switch {
		case rec.Gate != nil || len(rec.Answers) == 0 || len(rec.OpenQuestions()) > 0 || a.Session != "" && a.Session != newest:
			return nil
		case a.Outcome == attempts.Asked:
			return &a
		case !ClassOf(a.Outcome).resumes:
			return nil
		}
	}
	return nil
}
