package status

import (
	"fmt"
	"strings"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/report"
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
