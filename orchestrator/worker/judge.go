package worker

import (
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
	"relay/runners"
)

// judge turns what a runner reports into a finding: who is to blame, and in which words. A claimed success is only a
// claim; evidence decides it later.
func judge(r runners.Report) state {
	f := state{
		Result: engine.Result{Model: r.Model, Session: r.Session, ResetAt: r.ResetAt, Usage: usageOf(r.Usage)},
		used:   r.Usage,
	}
	row := outcomeOf(r.Outcome)
	f.Outcome = row.outcome
	f.Receipt.ErrorCategory = row.category
	if row.outcome != attempts.Success {
		f.Receipt.ErrorSummary = text.FirstOf(r.Detail, row.words)
	}
	switch {
	case r.Result != nil:
		f.claim(r.Result)
	case formless(r):
		f.withoutResult(r)
	}
	if r.Exit.Strays > 0 {
		f.Note("stray", "ended "+text.Processes(r.Exit.Strays)+" the agent had left behind")
	}
	return f
}

// outcomeRow is one line of the outcome table, from a runner's report to the ledger.
type outcomeRow struct {
	outcome  attempts.Outcome
	category attempts.Category
	words    string
}

// outcomeRows is the outcome table.
var outcomeRows = map[runners.Outcome]outcomeRow{
	runners.Claimed:          {outcome: attempts.Success},
	runners.Failed:           {attempts.Agent, attempts.CodeError, "the agent reported a failure"},
	runners.NoResult:         {attempts.Agent, attempts.NoResult, "the agent ended without a result"},
	runners.BadResult:        {attempts.Agent, attempts.NoResult, "the agent's result cannot be read"},
	runners.WallLimit:        {attempts.Timeout, attempts.TimedOut, "the agent ran out of time"},
	runners.SilenceLimit:     {attempts.Timeout, attempts.TimedOut, "the agent fell silent"},
	runners.Quota:            {attempts.Quota, attempts.RateLimited, "the provider's usage limit is reached"},
	runners.Refused:          {attempts.Agent, attempts.ModelRefused, "the model refuses this task"},
	runners.ContextExhausted: {attempts.Agent, attempts.ContextSpent, "the task does not fit the model's context"},
	runners.Killed:           {attempts.Agent, attempts.AgentKilled, "the agent was killed"},
	runners.RateLimited:      {attempts.Provider, attempts.RateLimited, "the provider limits the rate of requests"},
	runners.Overloaded:       {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.Network:          {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.Truncated:        {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.Provider:         {attempts.Provider, attempts.ProviderError, "the provider failed"},
	runners.NoSession:        {attempts.Provider, attempts.ProviderError, "the agent's session is gone"},
	runners.Auth:             {attempts.Auth, attempts.AuthError, "the agent is not logged in, or may not be used"},
	runners.PermissionDenied: {attempts.Environment, attempts.CLIError, "the agent's mode denies it a tool it needs"},
	runners.CannotStart:      {attempts.Start, attempts.CLIError, "the agent's program cannot be started"},
	runners.Stopped:          {attempts.Stopped, attempts.Interrupted, "the run was stopped"},
	runners.Lost:             {attempts.Environment, attempts.Interrupted, "the process that watched the agent died"},
}

func outcomeOf(o runners.Outcome) outcomeRow {
	if row, ok := outcomeRows[o]; ok {
		return row
	}
	return outcomeRow{attempts.Environment, attempts.CLIError, "unknown outcome " + string(o)}
}

// mostDiscovered bounds what an agent tells of work that it found and did not do.
const mostDiscovered = 5

// claim takes in what the agent said of itself.
func (f *state) claim(r *runners.Result) {
	f.Receipt.Claimed = r.Status
	if r.Loose {
		f.Receipt.ResultFrom = attempts.ResultLoose
	}
	f.Receipt.Summary = r.Summary
	for _, what := range slices.Sorted(maps.Keys(r.Decisions)) {
		f.Receipt.Summary += "\nDecided, " + what + ": " + r.Decisions[what]
	}
	f.Receipt.Suggestion = r.Suggestion
	f.Receipt.Learning = r.Learning
	f.Receipt.PatternTags = r.PatternTags
	f.claimedFiles = r.FilesChanged
	for _, d := range r.Discovered[:min(len(r.Discovered), mostDiscovered)] {
		f.Note("discovered", "its agent found, and left: "+strings.TrimSuffix(d.Title+" ("+d.Why+")", " ()"))
	}
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

// usageOf counts what a runner reports as the ledger does.
func usageOf(u runners.Usage) attempts.Usage {
	return attempts.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD, Estimated: u.Estimated, ListPriced: u.ListPriced}
}
