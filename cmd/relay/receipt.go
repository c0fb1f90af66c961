package main

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/words"
)

// tellAttempt writes one attempt with its receipt for a person.
func tellAttempt(w io.Writer, at *attempts.Attempt, l listing, indent string) {
	head := fmt.Sprintf("attempt %d  %s", at.ID, moment(at.StartedAt, l.now))
	result := strings.ReplaceAll(string(at.Result), "_", " ")
	switch {
	case !at.EndedAt.IsZero():
		head += "  " + span(at.EndedAt.Sub(at.StartedAt))
	case l.dead:
		result = interrupted
	default:
		head += "  running for " + span(l.now.Sub(at.StartedAt))
	}
	if at.Runner != "" {
		head += "  " + line(strings.TrimSpace(at.Runner+" "+at.Model), 40)
	}
	head += "  " + result
	if at.Result != attempts.ResultSuccess && at.Outcome != "" {
		head += fmt.Sprintf(" (%s, %s)", at.Outcome, charge(at.Charged))
	}
	fmt.Fprintln(w, indent+head)
	tellReceipt(w, &at.Receipt, l, indent+"  ")
	if u := at.Undone; u != nil {
		text := fmt.Sprintf("undone since: %s fails by now (landed since: %s)", u.Check.Name, some(u.Since, 8))
		fmt.Fprintln(w, terminal.Wrap(text, l.width, indent+"  "))
	}
	if at.Usage != nil {
		fmt.Fprintf(w, "%s  %s\n", indent, words.Usage(*at.Usage))
	}
}

// resultSources say what stood in for a result in relay's form.
var resultSources = map[attempts.ResultSource]string{
	attempts.ResultLoose:     "result: from a block of the agent's last message without relay's mark",
	attempts.ResultChecks:    "result: the agent gave none; the task's checks decided",
	attempts.ResultReviewers: "result: the agent gave none when it had mended what reviewers found; the reviewers decided",
	attempts.ResultAsked:     "result: given when the agent was asked for it once more",
}

func charge(charged bool) string {
	if charged {
		return "charged"
	}
	return "not charged"
}

func tellReceipt(w io.Writer, r *attempts.Receipt, l listing, indent string) {
	say := func(label, text string) {
		if strings.TrimSpace(text) != "" {
			fmt.Fprintln(w, terminal.Wrap(label+text, l.width, indent))
		}
	}
	say("", r.Summary)
	if r.ErrorSummary != r.Summary {
		say(string(r.ErrorCategory)+": ", r.ErrorSummary)
	}
	say("", resultSources[r.ResultFrom])
	if r.AlreadyDone {
		say("", "already done: nothing had to change, and its checks pass on the commit that the attempt began from")
	}
	say("changed: ", some(r.FilesChanged, 8))
	for _, text := range r.WeakerTests {
		say("look at its tests: ", text)
	}
	for _, c := range r.Checks {
		of := c.Phase
		if c.Attribution != "" {
			of += ", " + strings.ReplaceAll(string(c.Attribution), "_", " ")
		}
		say("check: ", fmt.Sprintf("%s: %s, %.1f s (%s)", c.Name, words.Exit(c.ExitCode), c.Seconds, of))
	}
	say("verdict: ", string(r.Verdict))
	if r.Findings != "" {
		for _, text := range strings.Split(safe(strings.TrimSpace(r.Findings)), "\n") {
			fmt.Fprintln(w, indent+"| "+line(text, max(l.width-len(indent)-2, 20)))
		}
	}
	say("suggestion: ", r.Suggestion)
	say("learning: ", r.Learning)
	say("kept: ", r.Salvage)
	for _, ref := range r.Kept {
		say("kept, too: ", ref)
	}
}
