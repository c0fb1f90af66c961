package worker

import (
	"fmt"
	"path/filepath"
	"strings"

	"relay/attempts"
	"relay/orchestrator/changes"
	"relay/orchestrator/checks"
	"relay/orchestrator/engine"
	"relay/orchestrator/facts"
	"relay/orchestrator/text"
	"relay/orchestrator/verdict"
	"relay/review"
	"relay/runners"
)

// state is what is known of an attempt besides the evidence: what the ledger will record, and what its further turns need.
type state struct {
	engine.Result
	changes.Found

	end       verdict.TurnEnd // of the last turn
	used      runners.Usage   // by the runs of Session, without what reviewers used
	agentHead string          // before relay committed what was left
	rounds    int             // in which the agent mended what reviewers found
	judged    string          // head that the last review was about
	wanted    []review.Raised // by the last review
	before    []review.Raised // by the one before it
	earlier   string          // the same as markdown
	answered  string          // what the agent said it has done about them

	left    []string        // files left uncommitted that are no part of the work
	written []string        // protected files that checks have changed, on the base or on the work
	putBack []string        // protected files left uncommitted, which relay has put back
	onBase  checks.Baseline // what the checks said before the agent; nil: they were not asked
	ofEpic  checks.Baseline // what the checks of the epic said of the work

	claimedFiles []string // as the agent listed them; compared with git's list and then forgotten
}

// spent adds what another turn of the agent has used.
func (f *state) spent(turn engine.Result) {
	f.Usage.Add(turn.Usage)
	f.Tools = facts.Tools(f.Tools, turn.Tools)
}

// record fills in what the ledger records of the ruling.
func (f *state) record(e *verdict.Evidence, r verdict.Ruling) {
	f.Rule(e, r)
	if e.End == nil {
		return
	}
	f.Receipt.AlreadyDone = e.AlreadyDone(r)
	if e.WithoutResult() {
		f.Receipt.ResultFrom = ""
	}
}

// stateOf turns what a runner reports into a state. A claimed success is only a claim; evidence decides it later.
func stateOf(r runners.Report) state {
	f := state{
		Result: engine.Result{Model: r.Model, Session: r.Session, ResetAt: r.ResetAt, Usage: engine.UsageOf(r.Usage), Tools: facts.Used(r.Tools)},
		used:   r.Usage,
		end:    verdict.TurnEnd{Is: r.Outcome, Said: r.Detail, Session: r.Session != ""},
	}
	switch {
	case r.Result != nil:
		f.recordClaim(r.Result)
	case lacksResult(r):
		f.end.NoResult = true
		f.Receipt.Summary = attempts.Clean(r.FinalText, maxWords)
	}
	if r.Exit.Strays > 0 {
		f.Note("stray", "ended "+text.Processes(r.Exit.Strays)+" the agent had left behind")
	}
	return f
}

// lacksResult reports whether an agent ended without a result that can be read, and without a fault that its CLI knows of. It has not
// failed for that: its word would be a claim only. What decides instead is, first, evidence: the task's own checks, or the reviewers whose
// findings it was to mend. Where there is none, its session is asked once for the result alone.
func lacksResult(r runners.Report) bool {
	switch r.Outcome {
	case runners.NoResult, runners.BadResult, runners.PermissionDenied:
		return r.Result == nil
	default:
		return r.EndedWell && r.Result == nil
	}
}

// maxWords bounds how much of an agent's last message a receipt holds.
const maxWords = 500

// recordClaim takes in what the agent said of itself.
func (f *state) recordClaim(r *runners.Result) {
	f.Receipt.Claimed = r.Status
	if r.Loose {
		f.Receipt.ResultFrom = attempts.ResultLoose
	}
	f.Receipt.Summary = r.Summary
	f.Receipt.Statement = facts.Statement(r)
	f.Receipt.Suggestion = r.Suggestion
	f.Receipt.Learning = r.Learning
	f.Receipt.PatternTags = r.PatternTags
	f.claimedFiles = r.FilesChanged
	// An agent that failed though it claims success says nothing of its failure: how it ended does.
	if !f.end.OfAgent() || r.Status != runners.StatusFailure {
		return
	}
	f.end.Said = text.FirstOf(r.ErrorSummary, r.Summary, f.end.Words())
	switch c := attempts.Category(strings.TrimSpace(r.ErrorCategory)); c {
	case "", attempts.CodeError:
	case attempts.MissingDependency, attempts.TestFailure, attempts.QualityGate, attempts.CLIError:
		f.end.Category = c
	default: // free text is data: it says something to a person, and names no category
		f.end.Said = r.ErrorCategory + ": " + f.end.Said
	}
}

// presume has evidence decide in place of the result that the agent did not give.
func (f *state) presume(by attempts.ResultSource) {
	if f.end.NoResult {
		f.end.By = by
		f.Receipt.ResultFrom = by
	}
}

// folder is where the answers of a round are.
func (f *state) folder(review string) string {
	if f.rounds == 0 {
		return review
	}
	return filepath.Join(review, fmt.Sprintf("round-%d", f.rounds+1))
}
