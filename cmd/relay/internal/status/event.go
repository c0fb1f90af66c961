package status

import (
	"fmt"
	"strings"
	"time"

	"relay/attempts"
	"relay/orchestrator/report"
	"relay/orchestrator/text"
)

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
		return text.Line(fmt.Sprintf("%s: %s %s at %.12s", who, e.Started.Runner, e.Started.Model, e.Started.Base), maxLine)
	case e.Landing != nil:
		return text.Line(fmt.Sprintf("%s: %.12s", who, e.Landing.Landed), maxLine)
	case e.Ended != nil:
		msg := fmt.Sprintf("%s: %s (%s, %s)", who, e.Ended.Result, e.Ended.Outcome, report.ChargeText(e.Ended.Charged))
		if e.Ended.Gate != nil {
			msg += ", gated: " + string(e.Ended.Gate.Reason)
		}
		return text.Line(msg+text.After(e.Ended.Receipt.ErrorSummary), maxLine)
	case e.Gate != nil:
		return text.Line(fmt.Sprintf("%s: %s%s", who, e.Gate.Reason, text.After(e.Gate.Detail)), maxLine)
	case e.Type == attempts.TypeWritten:
		return "attempt-ledger.yml written"
	case e.Finished != nil:
		f := e.Finished
		return text.Line(fmt.Sprintf("%s landed on %s by %s: %.12s..%.12s", f.Branch, f.Into, f.How, f.From, f.To), maxLine)
	case e.Cooldown != nil, e.Waiting != nil:
		return text.Line(cooldownText(who, e), maxLine)
	case e.Reviewed != nil:
		return text.Line(who+": "+reviewProgressWords(e.Reviewed), maxLine)
	case e.Note != nil:
		return text.Line(fmt.Sprintf("%s %s: %s", who, e.Note.Kind, e.Note.Text), maxLine)
	}
	return text.Line(who+factText(e), maxLine)
}

// factText returns in words what an event says that changes no state; "" of any other.
func factText(e attempts.Event) string {
	if e.PullRequest != nil {
		return fmt.Sprintf(": %s for %s", e.PullRequest.URL, e.PullRequest.Branch)
	}
	b := e.Briefed
	if b == nil {
		return ""
	}
	words := ""
	if b.Continues {
		words = ": goes on from earlier work"
	}
	if len(b.Cut) > 0 {
		words += "; what did not fit: " + strings.Join(b.Cut, ", ")
	}
	return words
}

// reviewProgressWords returns text that says what reviewers have said of an attempt under way.
func reviewProgressWords(h *attempts.ReviewProgress) string {
	var parts []string
	for _, s := range h.Opinions {
		parts = append(parts, s.Reviewer+" has answered")
	}
	for _, r := range h.Rounds {
		parts = append(parts, fmt.Sprintf("%s, and the agent fixes it in round %d", r.Verdict, r.Number))
	}
	return strings.Join(parts, "; ")
}

// cooldownText describes an event that keeps tasks from starting.
func cooldownText(who string, e attempts.Event) string {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	c := e.Cooldown
	switch {
	case c == nil:
		return fmt.Sprintf("%s until %s for %s%s", who, at(e.Waiting.Until), e.Waiting.For, text.After(e.Waiting.Why))
	case c.Until.IsZero():
		return fmt.Sprintf("%s: %s may be asked again%s", who, c.Runner, text.After(c.Why))
	}
	return fmt.Sprintf("%s: %s is not asked before %s%s", who, c.Runner, at(c.Until), text.After(c.Why))
}
