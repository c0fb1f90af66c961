package report

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/text"
	"relay/review"
)

// ProofText returns text that says how a criterion was proved; covering are the names of the task's checks.
func ProofText(p review.Proof, covering []string) string {
	switch {
	case p.By == review.ByCheck:
		text := fmt.Sprintf("check %s: %s at %.12s", p.Check, text.Exit(p.ExitCode), p.Commit)
		if p.LogSHA256 != "" {
			text += fmt.Sprintf(", log %s (sha256 %.12s)", p.Log, p.LogSHA256)
		}
		return text
	case p.By == review.ByReview:
		met := "not met"
		if p.Met {
			met = "met"
		}
		return fmt.Sprintf("%s at %.12s: %s%s", strings.Join(p.Reviewers, ", "), p.Commit, met, text.After(p.Evidence))
	case len(covering) == 0:
		return "unproven: " + CoverText(nil)
	}
	return CoverText(covering)
}

// CriterionText returns text that says what is to prove a criterion of a task with these checks.
func CriterionText(c epic.Criterion, checks []epic.Check) string {
	if c.Check != "" {
		return "its check: " + c.Check
	}
	return CoverText(CheckNames(checks))
}

// CoverText returns text that says what stands for a criterion that no command and no reviewer proves; covering are the names of the
// task's checks.
func CoverText(covering []string) string {
	if len(covering) > 0 {
		return "covered by the task's checks: " + text.Some(covering, mostCovering)
	}
	return "no check proves it; write a command that does under the task's checks, as in - **Checks:** `COMMAND`"
}

// mostCovering is how many checks are named for a criterion.
const mostCovering = 5

// Covering returns the names of the task's own checks in a receipt.
func Covering(r *attempts.Receipt) (names []string) {
	for i := range r.Checks {
		if r.Checks[i].Phase == attempts.PhaseTask {
			names = append(names, r.Checks[i].Name)
		}
	}
	return names
}

// CheckNames returns the names of checks.
func CheckNames(checks []epic.Check) (names []string) {
	for _, c := range checks {
		names = append(names, c.Name)
	}
	return names
}
