package report

import (
	"fmt"
	"strings"

	"relay/orchestrator/text"
	"relay/review"
)

// ProofText returns text that says how a criterion was proved.
func ProofText(p review.Proof) string {
	switch {
	case p.By == review.ByCheck:
		text := fmt.Sprintf("check %s: %s at %.12s", p.Check, text.Exit(p.ExitCode), p.Commit)
		if p.LogSHA256 != "" {
			text += fmt.Sprintf(", log %s (sha256 %.12s)", p.Log, p.LogSHA256)
		}
		return text
	case p.By == review.ByReview && p.Met:
		return strings.Join(p.Reviewers, ", ") + " at " + fmt.Sprintf("%.12s", p.Commit) + ": met" + text.After(p.Evidence)
	case p.By == review.ByReview:
		return strings.Join(p.Reviewers, ", ") + " at " + fmt.Sprintf("%.12s", p.Commit) + ": not met" + text.After(p.Evidence)
	}
	return "unproven: no check is named for it, and no reviewer says anything"
}
