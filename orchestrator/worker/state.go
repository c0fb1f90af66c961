package worker

import (
	"relay/attempts"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/facts"
	"relay/review"
	"relay/runners"
)

// state is the state of an attempt while it is worked on and judged: its result so far, and what only the engine needs.
type state struct {
	engine.Result
	changes.Found

	used      runners.Usage   // by the runs of Session, without what reviewers used
	agentHead string          // before relay committed what was left
	theirs    bool            // after a run that was killed, somebody else has committed since
	rounds    int             // in which the agent mended what reviewers found
	judged    string          // head that the last review was about
	wanted    []review.Raised // by the last review
	before    []review.Raised // by the one before it
	earlier   string          // the same as markdown
	answered  string          // what the agent said it has done about them

	noResult *missingResult // nil: the agent gave a result
	left     leftovers
	written  []string // protected files that checks have changed, on the base or on the work

	onBase      checks.Baseline // what the checks said before the agent; nil: they were not asked
	epicResults checks.Baseline // by the checks of the epic, of the work

	claimedFiles []string // as the agent listed them; compared with git's list and then forgotten
}

// spent adds what another turn of the agent has used.
func (f *state) spent(turn engine.Result) {
	f.Usage.Add(turn.Usage)
	f.Tools = facts.Tools(f.Tools, turn.Tools)
}

// waiveCharge clears the charge if somebody committed after a crash, so that the failure cannot be attributed.
func (f *state) waiveCharge() {
	if f.theirs && f.Outcome.Charged() {
		f.Gate = ""
		f.Fail(attempts.Stopped, attempts.Interrupted, "somebody committed after the run was killed, and now: "+f.Receipt.ErrorSummary)
	}
}

// missingResult is how an attempt ends whose agent gave no result, unless something else decides it.
type missingResult struct {
	outcome  attempts.Outcome
	category attempts.Category
	summary  string
	asked    bool // its session was asked for the result alone
}

// leftovers are the uncommitted changes of a claimed success that are no part of its work.
type leftovers struct {
	untracked []string // not committed by an agent that committed, and not named by anybody; or protected
	protected []string // tracked files that relay has put back
}
