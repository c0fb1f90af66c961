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
		Free: u.Priced && u.CostUSD == 0,
	}
}

// SpentBy returns what the attempts have used that had a session.
func SpentBy(session string, list []attempts.Attempt) (u runners.Usage) {
	for _, a := range list {
		if a.Session == session && a.Usage != nil {
			u = u.Plus(runners.Usage{
				InputTokens: a.Usage.InputTokens, CachedTokens: a.Usage.CachedTokens, OutputTokens: a.Usage.OutputTokens, CostUSD: a.Usage.CostUSD,
			})
		}
	}
	return u
}
