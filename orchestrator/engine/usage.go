package engine

import (
	"slices"

	"relay/attempts"
	"relay/runners"
)

// UsageOf counts what a runner reports as the ledger does.
func UsageOf(u runners.Usage) attempts.Usage {
	return attempts.Usage{
		InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens,
		CostUSD: u.CostUSD, Estimated: u.Estimated, ListPriced: u.ListPriced,
		Free: u.Priced && u.CostUSD == 0,
	}
}

// SpentBy returns what a session has used in all of its attempts. The newest one says it, unless that is what the attempts used.
func SpentBy(session string, list []attempts.Attempt) runners.Usage {
	var u attempts.Usage
	for _, a := range slices.Backward(list) {
		if a.Session == session && a.Receipt.SessionUsage != nil {
			u.Add(*a.Receipt.SessionUsage)
			break
		} else if a.Session == session && a.Usage != nil {
			u.Add(*a.Usage)
		}
	}
	return runners.Usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD}
}
