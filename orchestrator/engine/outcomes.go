package engine

import (
	"relay/attempts"
	"relay/orchestrator/verdict"
	"relay/runners"
)

// OutcomeOf looks up a runner's outcome as [verdict.OutcomeOf] does. Ask that one.
func OutcomeOf(o runners.Outcome) verdict.RunnerOutcome { return verdict.OutcomeOf(o) }

// EndedWhile returns why an agent ended as [verdict.EndedWhile] does. Ask that one.
func EndedWhile(r runners.Report, doing string) string { return verdict.EndedWhile(r, doing) }

// RunnerFault reports whether an outcome is the fault of the runner or its provider. Ask [verdict.ClassOf].
func RunnerFault(o attempts.Outcome) bool { return verdict.ClassOf(o).Runner == verdict.RunnerFailed }

// UsageOf counts what a runner reports as the ledger does.
func UsageOf(u runners.Usage) attempts.Usage {
	return attempts.Usage{
		InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens,
		CostUSD: u.CostUSD, Estimated: u.Estimated, ListPriced: u.ListPriced,
	}
}
