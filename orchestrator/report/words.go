package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/review"
)

// Said holds one kind of an agent's statements besides its summary.
type Said struct {
	Label   string // begins each entry; "" : what is said is relay's own words
	Entries []string
}

// StatementOf lists what an agent says besides its summary, in the order in which it is shown. Entries may be empty.
func StatementOf(s *attempts.Statement) (list []Said) {
	add := func(label string, entries ...string) { list = append(list, Said{label, entries}) }
	add("decided: ", each.Of(slices.Sorted(maps.Keys(s.Decisions)), func(what string) string {
		return what + plaintext.Because(s.Decisions[what])
	})...)
	if i := s.Implementation; i != nil {
		add("built so: ", i.DesignDecisions...)
		add("breaks: ", i.BreakingChanges...)
	}
	if f := s.Bugfix; f != nil {
		add("symptom: ", f.Symptom)
		add("cause: ", f.RootCause)
		add("fix: ", f.Fix)
		add("risk: ", f.RegressionRisk)
	}
	if i := s.Inspection; i != nil {
		add(LookedAt, i.Scope...)
		add("finding: ", each.Of(i.Findings, func(f attempts.InspectionFinding) string {
			return strings.TrimSpace(f.Severity+" "+f.Location) + plaintext.Because(f.Issue+plaintext.Because(f.Recommendation))
		})...)
		add("assessment: ", i.Assessment)
	}
	add("asks: ", s.Questions...)
	add("found, and left: ", each.Of(s.Discovered, func(d attempts.Discovery) string { return d.Title + plaintext.Because(d.Why) })...)
	if s.Confident != nil && !*s.Confident {
		add("", "the agent is not sure of it")
	}
	return list
}

// LookedAt is the label of what an inspection has looked at.
const LookedAt = "looked at: "

// mostSaid is how many entries are shown of each list that an agent gives.
const mostSaid = 5

// said returns what an agent of a task says besides its summary, in lines.
func said(task string, s attempts.Statement) (lines []string) {
	more := 0
	for _, one := range StatementOf(&s) {
		if one.Label == LookedAt {
			continue
		}
		more += max(len(one.Entries)-mostSaid, 0)
		for _, entry := range one.Entries[:min(len(one.Entries), mostSaid)] {
			if one.Label != "" {
				entry = code(entry)
			}
			if entry != "" {
				lines = append(lines, one.Label+entry)
			}
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: `relay show %s`", more, task))
	}
	return lines
}

// CountsText returns text that says how many tasks are in which state. On a run that is over nothing is under way.
func CountsText(c decide.Counts, over bool) string {
	words := []string{"in progress", "pending", "blocked", "gated"}
	if over {
		words[0] = "interrupted" // else what is proved and waits to land is in progress, and has no job any more
	}
	parts := []string{fmt.Sprintf("%d of %d completed", c.Completed, c.Total)}
	for i, n := range []int{c.InProgress, c.Pending, c.Blocked, c.Gated} {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[i]))
		}
	}
	return strings.Join(parts, ", ")
}

// headlines say how a run ended, by its reason.
var headlines = map[decide.EndReason]string{
	decide.EpicComplete:    "done: every task is completed",
	decide.EpicRefused:     "every task is completed, but the epic as a whole has not passed its review",
	decide.EpicUnjudged:    "every task is completed, but the epic as a whole has not passed its review",
	decide.EpicUndone:      "every task was completed, but work that landed later has broken some of it: that needs you",
	decide.EpicLooks:       "completed, but some tasks need a look",
	decide.Reload:          "stopped to continue with the changed plan",
	decide.Interrupted:     "stopped before the end; nothing is lost, relay work continues",
	decide.Deadline:        "stopped at its deadline; nothing is lost, relay work continues",
	decide.NoRunner:        "stopped because no agent can work; nothing is lost",
	decide.BudgetExhausted: "stopped by its budget; nothing is lost",
	decide.NoRunnableTasks: "finished what could be done; some tasks need you",
	"":                     "ended for an unknown reason",
}

// Headline returns text that says how a run ended; left is how many of its tasks are not completed.
func Headline(reason decide.EndReason, left int) string {
	if reason == decide.NoRunnableTasks && left == 0 {
		return "done: the tasks you named are completed"
	}
	if decide.LimitAdvice[reason] != "" {
		return cmp.Or(headlines[reason], "stopped early; nothing is lost")
	}
	return cmp.Or(headlines[reason], "ended by an error; nothing recorded is lost")
}

// Ended returns text that says how a run with an exit code ended, by a ledger of now: looks is how many tasks a person has to look at.
func Ended(reason decide.EndReason, code, looks int) string {
	if reason == decide.EpicLooks && looks == 0 {
		return "completed"
	}
	return Headline(reason, code)
}

// Next returns text that says what to do after a limit of the run; "" when there is nothing to say.
func Next(reason decide.EndReason) string { return cmp.Or(next[reason], decide.LimitAdvice[reason]) }

var next = map[decide.EndReason]string{
	decide.EpicRefused:     "relay init --append adds what the reviewers found as tasks; relay work asks them again when something has changed",
	decide.EpicUndone:      "relay show TASK says what failed; relay retry TASK gives it to an agent again, or change its checks in epic.yml",
	decide.EpicUnjudged:    "relay work asks the reviewers again",
	decide.BudgetExhausted: "relay work continues with a new budget for the run (--budget, relay.budget_usd); that of the epic is relay.epic_budget_usd",
}

// AttributionWords say what a check did before the work.
var AttributionWords = map[attempts.Attribution]string{
	attempts.StayedClean: "passed before the work too", attempts.FixedByTask: "failed before the work",
	attempts.BrokenByTask: "passed before the work", attempts.BrokenBefore: "failed before the work too",
}

// ProofText returns text that says how a criterion was proved; covering are the names of the task's checks.
func ProofText(p review.Proof, covering []string) string {
	switch {
	case p.By == review.ByCheck:
		text := fmt.Sprintf("check %s: %s at %.12s", p.Check, plaintext.ExitText(p.ExitCode), p.Commit)
		if p.LogSHA256 != "" {
			text += fmt.Sprintf(", log %s (sha256 %.12s)", p.Log, p.LogSHA256)
		}
		return text
	case p.By == review.ByReview:
		met := "not met"
		if p.Met {
			met = "met"
		}
		return fmt.Sprintf("%s at %.12s: %s%s", strings.Join(p.Reviewers, ", "), p.Commit, met, plaintext.Because(p.Evidence))
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

// CoverText says what covers a criterion that no command and no reviewer proves; covering are the names of the
// task's checks.
func CoverText(covering []string) string {
	if len(covering) > 0 {
		return "covered by the task's checks: " + plaintext.Some(covering, mostCovering)
	}
	return "no check proves it; write a command that does under the task's checks, as in - **Checks:** `COMMAND`"
}

// mostCovering is how many checks are named for a criterion.
const mostCovering = 5

// Covering returns the names of the task's own checks in a receipt.
func Covering(r *attempts.Receipt) []string {
	return each.Where(r.Checks, func(c attempts.CheckRun) (string, bool) { return c.Name, c.Phase == attempts.PhaseTask })
}

// CheckNames returns the names of checks.
func CheckNames(checks []epic.Check) []string {
	return each.Of(checks, func(c epic.Check) string { return c.Name })
}

// ChargeText says whether an attempt was charged.
func ChargeText(charged bool) string {
	if charged {
		return "charged"
	}
	return "not charged"
}
