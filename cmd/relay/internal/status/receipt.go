package status

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/internal/plaintext"
	"relay/orchestrator/report"
	"relay/orchestrator/text"
)

// WriteAttempt writes one attempt with its receipt for a person.
func WriteAttempt(w io.Writer, at *attempts.Attempt, l Printer, indent string) {
	head := fmt.Sprintf("attempt %d  %s", at.ID, FormatTime(at.StartedAt, l.Now))
	begun, over := !at.StartedAt.IsZero(), at.Result != attempts.ResultInProgress
	result := strings.ReplaceAll(string(at.Result), "_", " ")
	switch {
	case !at.EndedAt.IsZero() && begun:
		head += "  " + text.Span(at.EndedAt.Sub(at.StartedAt))
	case over: // a foreign ledger does not say how long it took
	case l.Dead:
		result = InterruptedText
	case begun:
		head += "  running for " + text.Span(l.Now.Sub(at.StartedAt))
	}
	if at.Runner != "" {
		head += "  " + text.Line(strings.TrimSpace(at.Runner+" "+at.Model), 40)
	}
	head += "  " + result
	if at.Result != attempts.ResultSuccess && at.Outcome != "" {
		head += fmt.Sprintf(" (%s, %s)", at.Outcome, report.ChargeText(at.Charged))
	}
	fmt.Fprintln(w, indent+head)
	WriteReceipt(w, &at.Receipt, l, indent+"  ")
	if u := at.Undone; u != nil {
		text := fmt.Sprintf("undone since: %s fails by now (landed since: %s)", u.Check.Name, text.Some(u.Since, 8))
		fmt.Fprintln(w, terminal.Wrap(text, l.Width, indent+"  "))
	}
	if at.Usage != nil {
		fmt.Fprintf(w, "%s  %s\n", indent, text.Usage(*at.Usage))
	}
}

// resultSources say what stood in for a result in relay's form.
var resultSources = map[attempts.ResultSource]string{
	attempts.ResultLoose:     "result: from a block of the agent's last message without relay's mark",
	attempts.ResultChecks:    "result: the agent gave none; the task's checks decided",
	attempts.ResultReviewers: "result: the agent gave none when it had fixed what reviewers found; the reviewers decided",
	attempts.ResultAsked:     "result: given when the agent was asked for it once more",
}

// mostSaid is how many entries are shown of each list that an agent gives.
const mostSaid = 20

// WriteReceipt writes what an attempt left: its summary, checks, verdict and what was kept of its work.
func WriteReceipt(w io.Writer, r *attempts.Receipt, l Printer, indent string) {
	say := func(label, shown string) {
		if strings.TrimSpace(shown) != "" {
			fmt.Fprintln(w, terminal.Wrap(label+shown, l.Width, indent))
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
	say("changed: ", text.Some(r.FilesChanged, 8))
	for _, shown := range r.WeakerTests {
		say("look at its tests: ", shown)
	}
	for _, c := range r.Checks {
		of := c.Phase
		if c.Attribution != "" {
			of += ", " + strings.ReplaceAll(string(c.Attribution), "_", " ")
		}
		say("check: ", fmt.Sprintf("%s: %s, %.1f s (%s)", c.Name, text.Exit(c.ExitCode), c.Seconds, of))
	}
	say("verdict: ", string(r.Verdict))
	if r.Findings != "" {
		for shown := range strings.SplitSeq(plaintext.Escape(strings.TrimSpace(r.Findings)), "\n") {
			fmt.Fprintln(w, indent+"| "+text.Line(shown, max(l.Width-len(indent)-2, 20)))
		}
	}
	for _, said := range report.StatementOf(&r.Statement) {
		for _, entry := range said.Entries[:min(len(said.Entries), mostSaid)] {
			say(said.Label, entry)
		}
		if more := len(said.Entries) - mostSaid; more > 0 {
			say("", fmt.Sprintf("and %d more", more))
		}
	}
	say("suggestion: ", r.Suggestion)
	say("learning: ", r.Learning)
	say("kept: ", r.Salvage)
	for _, ref := range r.Kept {
		say("kept, too: ", ref)
	}
}
