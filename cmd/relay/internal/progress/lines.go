package progress

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/text"
)

// lines shows one line for each change of state.
type lines struct {
	w    *terminal.Writer
	text bytes.Buffer // not written yet
}

func (l *lines) show(u orchestrator.Update) {
	if text := updateText(u); text != "" {
		fmt.Fprintf(&l.text, "%s %s\n", u.At.Local().Format(time.TimeOnly), text)
	}
}

func (l *lines) say(text string) { fmt.Fprintf(&l.text, "relay: %s\n", text) }
func (l *lines) tick()           {}
func (l *lines) close()          {}

func (l *lines) flush() {
	_, _ = l.w.Write(l.text.Bytes()) // it never fails
	l.text.Reset()
}

// maxLine bounds one message, in columns.
const maxLine = 300

// unchargedWords say what becomes of a task whose attempt was not charged.
var unchargedWords = map[orchestrator.UpdateKind]string{
	orchestrator.UpdateRetry: "ended uncharged, will be tried again",
	orchestrator.UpdateHeld:  "waits until nothing else can be done",
}

// meanwhile returns text that says what a person can do while a run waits.
func meanwhile(u orchestrator.Update) string {
	if u.Fix != "" {
		return "type " + u.Fix
	}
	return "relay work --ask-now does not wait"
}

// updateText returns a change of state in words, or "" when it is none.
func updateText(u orchestrator.Update) string {
	msg := ""
	switch u.Kind {
	case orchestrator.UpdateRun:
		msg = fmt.Sprintf("run %s: %d of %d completed", u.Text, u.Counts.Completed, u.Counts.Total)
		if u.Budget != "" {
			msg += ", " + u.Budget
		}
	case orchestrator.UpdateStarted:
		msg = fmt.Sprintf("%s attempt %d/%d started (%s): %s", u.Task, u.Try, u.Max, u.Runner, u.Title)
	case orchestrator.UpdateSettingUp, orchestrator.UpdateChecking:
		msg = fmt.Sprintf("%s %s: %s", u.Task, strings.ReplaceAll(string(u.Kind), "_", " "), u.Text)
	case orchestrator.UpdateReviewing:
		msg = fmt.Sprintf("%s in review%s", u.Task, text.After(u.Text))
	case orchestrator.UpdateMending:
		msg = fmt.Sprintf("%s fixing what reviewers found: %s", u.Task, u.Text)
	case orchestrator.UpdateCompleted:
		msg = fmt.Sprintf("%s completed in %s, %d of %d done%s", u.Task, text.Span(u.Elapsed), u.Counts.Completed, u.Counts.Total, text.After(u.Text))
	case orchestrator.UpdateFailed:
		msg = fmt.Sprintf("%s attempt %d/%d failed after %s, will be tried again%s", u.Task, u.Try, u.Max, text.Span(u.Elapsed), text.After(u.Text))
	case orchestrator.UpdateRetry, orchestrator.UpdateHeld:
		msg = u.Task + " " + unchargedWords[u.Kind] + text.After(u.Text)
	case orchestrator.UpdateGated:
		msg = fmt.Sprintf("%s gated%s", u.Task, text.After(u.Text))
	case orchestrator.UpdateWaiting:
		msg = fmt.Sprintf("waiting until %s for %s%s (%s)", u.Until.Local().Format("15:04:05"), u.Runner, text.After(u.Text), meanwhile(u))
	case orchestrator.UpdateCramped, orchestrator.UpdatePaused:
		msg = fmt.Sprintf("waiting until %s for %s%s", u.Until.Local().Format("15:04:05"), u.Runner, text.After(u.Text))
	case orchestrator.UpdateNote:
		msg = strings.TrimSpace(fmt.Sprintf("note: %s %s", u.Task, u.Text))
	case orchestrator.UpdateStopping:
		msg = "stopping" + text.After(u.Text)
	default: // the others are no line
	}
	return text.Line(msg, maxLine)
}
