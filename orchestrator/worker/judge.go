package worker

import (
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/facts"
	"relay/orchestrator/text"
	"relay/runners"
)

// judge turns what a runner reports into a state: who is to blame, and in which words. A claimed success is only a
// claim; evidence decides it later.
func judge(r runners.Report) state {
	f := state{
		Result: engine.Result{Model: r.Model, Session: r.Session, ResetAt: r.ResetAt, Usage: engine.UsageOf(r.Usage), Tools: facts.Used(r.Tools)},
		used:   r.Usage,
	}
	row := engine.OutcomeOf(r.Outcome)
	f.Outcome = row.Outcome
	f.Receipt.ErrorCategory = row.Category
	if row.Outcome != attempts.Success {
		f.Receipt.ErrorSummary = text.FirstOf(r.Detail, row.Words)
	}
	switch {
	case r.Result != nil:
		f.recordClaim(r.Result)
	case lacksResult(r):
		f.withoutResult(r)
	}
	if r.Exit.Strays > 0 {
		f.Note("stray", "ended "+text.Processes(r.Exit.Strays)+" the agent had left behind")
	}
	return f
}

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
	if f.Outcome != attempts.Agent || r.Status != runners.StatusFailure {
		return
	}
	f.Receipt.ErrorSummary = text.FirstOf(r.ErrorSummary, r.Summary, f.Receipt.ErrorSummary)
	switch c := attempts.Category(strings.TrimSpace(r.ErrorCategory)); c {
	case "", attempts.CodeError:
	case attempts.MissingDependency, attempts.TestFailure, attempts.QualityGate, attempts.CLIError:
		f.Receipt.ErrorCategory = c
	default: // free text is data: it says something to a person, and names no category
		f.Receipt.ErrorSummary = r.ErrorCategory + ": " + f.Receipt.ErrorSummary
	}
}
