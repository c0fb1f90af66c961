package report

import (
	"fmt"

	"relay/attempts"
	"relay/epic/plaintext"
)

// UsageText returns text that says what was used, and what it cost where that is known.
func UsageText(u attempts.Usage) string {
	text := fmt.Sprintf("%s tokens in, %s out", plaintext.Amount(u.InputTokens), plaintext.Amount(u.OutputTokens))
	if u.CachedTokens > 0 {
		text = fmt.Sprintf("%s tokens in (%s from the cache), %s out", plaintext.Amount(u.InputTokens), plaintext.Amount(u.CachedTokens), plaintext.Amount(u.OutputTokens))
	}
	if u.KnownCost() {
		usd := fmt.Sprintf("%.2f USD", u.CostUSD)
		if u.EstimatedCost() && !u.Estimated {
			usd += " (estimated)"
		}
		text = usd + ", " + text
	}
	if u.Estimated {
		text += ", estimated"
	}
	return text
}
