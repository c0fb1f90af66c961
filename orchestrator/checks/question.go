package checks

import (
	"slices"

	"relay/epic"
	"relay/orchestrator/engine"
)

// Question is a list of checks to be run on one commit, for one attempt.
type Question struct {
	Attempt engine.Attempt
	Logs    string // folder
	Commit  string
	Checks  []Check
	From    string   // what the work was put on, for when it cannot be set up; "": nothing of an agent's is to blame
	Before  bool     // it is about what the work begins from: then a failure is remembered as well
	Lay     []string // files that are put to what layFrom, a commit, has of them
	LayFrom string
	Empty   []string                 // files that are emptied
	Red     func(Check, Result) bool // whether a check is known to fail so without the work, too: then it is not repeated; nil: none is
	Takes   func(path string) bool   // which rewritten files a work takes in; nil: lock files of package managers
	Mine    bool                     // the commands are the user's: what the sandbox refuses them is tried
	Silent  func(Check) bool         // whether a check of work may fail for the sandbox without a word: it is tried; nil: none is
	Allow   []string                 // as in Location
	Bare    bool                     // set-up has the user's logins only if Allow names them
	Anew    bool                     // nothing that is known is believed, and what is said is not remembered
}

// Visit gets the result of each check, and reports whether to continue.
type Visit func(check Check, s Result) (more bool, err error)

// Lists returns the checks of the task and those of the epic: each list is run in a checkout of its own, for what the
// task's checks run is the agent's code too.
func (q Question) Lists() []Question {
	var lists []Question
	for _, ofEpic := range []bool{false, true} {
		own := q
		own.Checks = slices.DeleteFunc(slices.Clone(q.Checks), func(n Check) bool { return n.OfEpic != ofEpic })
		if len(own.Checks) > 0 {
			lists = append(lists, own)
		}
	}
	return lists
}

// OfEpic reports whether a list is the epic's, which is about no task.
func (q Question) OfEpic() bool { return len(q.Checks) > 0 && q.Checks[0].OfEpic }

// Protected returns the files that no check of a list may change.
func (q Question) Protected(plan *epic.Epic) []string {
	if q.OfEpic() {
		return plan.Protected
	}
	return slices.Concat(plan.Protected, q.Attempt.Task.Protected)
}

// Believed reports whether what is known of a list need not be found out again. A failure of the work may have been
// mended by waiting, and so may what took too long before the work and held the task back.
func (q Question) Believed(list []Result) bool {
	return !slices.ContainsFunc(list, func(s Result) bool {
		if q.Before {
			return s.TimedOut && q.Attempt.WasHeld && !s.WasHeld
		}
		return !s.Passed()
	})
}

// Replay tells what is known of a list.
func (q Question) Replay(list []Result, visit Visit) (more bool, err error) {
	for i, s := range list {
		s.Run.Name, s.Run.Phase = q.Checks[i].Name, q.Checks[i].Phase
		if more, err := visit(q.Checks[i], s); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
