package status

import (
	"fmt"
	"io"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/report"
)

// WriteAttempt writes one attempt with its receipt for a person.
func WriteAttempt(w io.Writer, at *attempts.Attempt, l Printer, indent string) {
	head := fmt.Sprintf("attempt %d  %s", at.ID, FormatTime(at.StartedAt, l.Now))
	begun, over := !at.StartedAt.IsZero(), at.Result != attempts.ResultInProgress
	result := strings.ReplaceAll(string(at.Result), "_", " ")
	switch {
	case !at.EndedAt.IsZero() && begun:
		head += "  " + plaintext.Span(at.EndedAt.Sub(at.StartedAt))
	case over: // a foreign ledger does not say how long it took
	case l.Dead:
		result = InterruptedText
	case begun:
		head += "  running for " + plaintext.Span(l.Now.Sub(at.StartedAt))
	}
	if at.Runner != "" {
		head += "  " + plaintext.Fit(strings.TrimSpace(at.Runner+" "+at.Model), 40)
	}
	head += "  " + result
	if at.Result != attempts.ResultSuccess && at.Outcome != "" {
		head += fmt.Sprintf(" (%s, %s)", at.Outcome, report.ChargeText(at.Charged))
	}
	fmt.Fprintln(w, indent+head)
	WriteReceipt(w, &at.Receipt, l, indent+"  ")
	if u := at.Undone; u != nil {
		text := fmt.Sprintf("undone since: %s fails by now (landed since: %s)", u.Check.Name, plaintext.Some(u.Since, 8))
		fmt.Fprintln(w, terminal.Wrap(text, l.Width, indent+"  "))
	}
	if at.Usage != nil {
		fmt.Fprintf(w, "%s  %s\n", indent, report.UsageText(*at.Usage))
	}
}

// resultSources say what stood in for a result in relay's form.
var resultSources = map[attempts.ResultSource]string{
	attempts.ResultLoose:     "result: from a block of the agent's last message without relay's mark",
	attempts.ResultChecks:    "result: the agent gave none; the task's checks decided",
	attempts.ResultReviewers: "result: the agent gave none when it had fixed what reviewers found; the reviewers decided",
	attempts.ResultAsked:     "result: given when relay asked the agent again",
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
	if r.ErrorSummary != r.Summary && r.ErrorCategory != attempts.Question { // it asks, see below
		say(string(r.ErrorCategory)+": ", r.ErrorSummary)
	}
	say("", resultSources[r.ResultFrom])
	if r.AlreadyDone {
		say("", "already done: nothing had to change, and its checks pass on the commit that the attempt began from")
	}
	say("changed: ", plaintext.Some(r.FilesChanged, 8))
	for _, shown := range r.WeakerTests {
		say("tests: ", shown)
	}
	for _, look := range r.Looks {
		say("look at this: ", look.Text)
	}
	for _, c := range r.Checks {
		of := c.PhaseText()
		if c.Attribution != "" {
			of += ", " + report.AttributionWords[c.Attribution]
		}
		say("check: ", fmt.Sprintf("%s: %s, %.1f s (%s)", c.Name, plaintext.ExitText(c.ExitCode), c.Seconds, of))
	}
	say("verdict: ", string(r.Verdict))
	if r.Findings != "" {
		for shown := range strings.SplitSeq(plaintext.Escape(strings.TrimSpace(r.Findings)), "\n") {
			fmt.Fprintln(w, indent+"| "+plaintext.Fit(shown, max(l.Width-len(indent)-2, 20)))
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

// maxLine bounds the text of one event, in columns.
const maxLine = 300

// EventText returns one event of the log in words, on one line.
func EventText(e attempts.Event) string {
	who := strings.TrimSpace(fmt.Sprintf("%s %s", e.Type, e.Task))
	if e.Attempt > 0 {
		who += fmt.Sprintf(" attempt %d", e.Attempt)
	}
	if e.Request != nil {
		who += fmt.Sprintf(" (a %s asked the run: %s)", e.Request.By, e.Request.What)
	}
	switch {
	case e.RunStarted != nil:
		return fmt.Sprintf("%s %s, process %d, jobs %d", who, e.Run, e.RunStarted.PID, e.RunStarted.Jobs)
	case e.RunStopped != nil:
		return fmt.Sprintf("%s: %s, exit code %d", who, e.RunStopped.Reason, e.RunStopped.ExitCode)
	case e.Started != nil:
		return plaintext.Fit(fmt.Sprintf("%s: %s %s at %.12s", who, e.Started.Runner, e.Started.Model, e.Started.Base), maxLine)
	case e.Landing != nil:
		return plaintext.Fit(fmt.Sprintf("%s: %.12s", who, e.Landing.Landed), maxLine)
	case e.Ended != nil:
		msg := fmt.Sprintf("%s: %s (%s, %s)", who, e.Ended.Result, e.Ended.Outcome, report.ChargeText(e.Ended.Charged))
		if e.Ended.Gate != nil {
			msg += ", gated: " + e.Ended.Gate.Reason.Words()
		}
		return plaintext.Fit(msg+plaintext.Because(e.Ended.Receipt.ErrorSummary), maxLine)
	case e.Gate != nil:
		return plaintext.Fit(who+": "+e.Gate.Text(), maxLine)
	case e.Type == attempts.TypeWritten:
		return "attempt-ledger.yml written"
	case e.Finished != nil:
		f := e.Finished
		return plaintext.Fit(fmt.Sprintf("%s landed on %s by %s: %.12s..%.12s", f.Branch, f.Into, f.How, f.From, f.To), maxLine)
	case e.Cooldown != nil, e.Waiting != nil:
		return plaintext.Fit(cooldownText(who, e), maxLine)
	case e.Note != nil:
		return plaintext.Fit(who+strings.TrimSuffix(" "+e.Note.Kind, " "+string(e.Type))+plaintext.Because(e.Note.Text), maxLine)
	}
	return plaintext.Fit(who, maxLine)
}

// cooldownText describes an event that keeps tasks from starting.
func cooldownText(who string, e attempts.Event) string {
	c := e.Cooldown
	switch {
	case c == nil:
		return fmt.Sprintf("%s until %s for %s%s", who, plaintext.Timestamp(e.Waiting.Until), e.Waiting.For, plaintext.Because(e.Waiting.Why))
	case c.Until.IsZero():
		return fmt.Sprintf("%s: %s may be asked again%s", who, c.Runner, plaintext.Because(c.Why))
	}
	return fmt.Sprintf("%s: %s is not asked before %s%s", who, c.Runner, plaintext.Timestamp(c.Until), plaintext.Because(c.Why))
}
