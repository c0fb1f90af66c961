package engine

import (
	"relay/attempts"
	"relay/runners"
)

// UsageOf counts what a runner reports as the ledger does.
func UsageOf(u runners.Usage) attempts.Usage {
	return attempts.Usage{
		InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens,
		CostUSD: u.CostUSD, Estimated: u.Estimated, ListPriced: u.ListPriced,
	}
}
