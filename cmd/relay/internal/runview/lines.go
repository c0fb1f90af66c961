package runview

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
)

// lines shows one line for each change of state.
type lines struct {
	w    *terminal.Writer
	text bytes.Buffer // not written yet
}

func (l *lines) show(u decide.Update) {
	if row := row(u, l.w.Palette); row != "" {
		fmt.Fprintln(&l.text, row)
	}
}

func (l *lines) say(text string) { fmt.Fprintf(&l.text, "relay: %s\n", text) }
func (l *lines) tick()           {}

func (l *lines) follow(func() *view.Night) {}

func (l *lines) close() {}

func (l *lines) flush() {
	_, _ = l.w.Write(l.text.Bytes()) // it never fails
	l.text.Reset()
}

// maxLine bounds one message, in columns.
const maxLine = 300

// unchargedWords say what becomes of a task whose attempt was not charged.
var unchargedWords = map[decide.UpdateKind]string{
	decide.Retry: "ended uncharged, will be tried again",
	decide.Held:  "waits until nothing else can be done",
}

// meanwhile returns text that says what a person can do while a run waits.
func meanwhile(u decide.Update) string {
	switch {
	case u.Fix != "":
		return "type " + u.Fix
	case u.Runner == decide.ForAnswer:
		return "relay work --never-ask does not wait"
	}
	return "relay work --ask-now does not wait"
}

// row returns the line of a change of state, with its time, marked by what it means; "" when it is none.
func row(u decide.Update, paint terminal.Palette) string {
	said := updateText(u)
	if said == "" {
		return ""
	}
	mark := func(s string) string { return s }
	switch u.Kind {
	case decide.UpdateRun:
		mark = paint.Strong
	case decide.Completed:
		mark = paint.Good
	case decide.UpdateFailed, decide.Gated:
		mark = paint.Bad
	case decide.Retry, decide.Held, decide.UpdateWaiting, decide.Cramped, decide.Paused, decide.Note, decide.Stopping:
		mark = paint.Wait
	default: // what goes well and is not over
	}
	head, why, found := strings.Cut(said, ": ")
	if found {
		why = ": " + why
	}
	return paint.Dim(u.At.Local().Format(time.TimeOnly)) + " " + mark(head) + why
}

// taken returns what an attempt has taken: time and, where it is known, money.
func taken(u decide.Update) string {
	if u.Usage.CostUSD > 0 {
		return plaintext.Span(u.Elapsed) + ", " + costText(u.Usage)
	}
	return plaintext.Span(u.Elapsed)
}

// updateText returns a change of state in words, or "" when it is none.
func updateText(u decide.Update) string {
	var msg string
	switch u.Kind {
	case decide.UpdateRun:
		msg = fmt.Sprintf("run %s: %d of %d completed", u.Text, u.Counts.Completed, u.Counts.Total)
		if u.Budget != "" {
			msg += ", " + u.Budget
		}
	case decide.Started:
		msg = fmt.Sprintf("%s %s started (%s): %s", u.Task, attemptText(u), u.Runner, u.Title)
	case decide.SettingUp, decide.Checking:
		msg = fmt.Sprintf("%s %s: %s", u.Task, strings.ReplaceAll(string(u.Kind), "_", " "), u.Text)
	case decide.Reviewing:
		msg = fmt.Sprintf("%s in review%s", u.Task, plaintext.Because(u.Text))
	case decide.Mending:
		msg = fmt.Sprintf("%s fixing what reviewers found: %s", u.Task, u.Text)
	case decide.Completed:
		msg = fmt.Sprintf("%s completed in %s, %d of %d done%s", u.Task, taken(u), u.Counts.Completed, u.Counts.Total, plaintext.Because(u.Text))
	case decide.UpdateFailed:
		msg = fmt.Sprintf("%s %s failed after %s, %s%s", u.Task, attemptText(u), taken(u), nextText(u), plaintext.Because(u.Text))
	case decide.Retry, decide.Held:
		msg = u.Task + " " + unchargedWords[u.Kind] + plaintext.Because(u.Text)
	case decide.Gated:
		msg = fmt.Sprintf("%s gated%s", u.Task, plaintext.Because(u.Text))
	case decide.UpdateWaiting:
		msg = fmt.Sprintf("waiting until %s for %s%s (%s)", plaintext.LocalTimeOn(u.Until, u.At, time.TimeOnly), u.Runner, plaintext.Because(u.Text), meanwhile(u))
	case decide.Cramped, decide.Paused:
		msg = fmt.Sprintf("waiting until %s for %s%s", plaintext.LocalTimeOn(u.Until, u.At, time.TimeOnly), u.Runner, plaintext.Because(u.Text))
	case decide.Note:
		msg = strings.TrimSpace(fmt.Sprintf("note: %s %s", u.Task, u.Text))
	case decide.Stopping:
		msg = "stopping" + plaintext.Because(u.Text)
	default:
		msg = requestText(u)
	}
	return plaintext.Fit(msg, maxLine)
}

// attemptText returns the number of an attempt in the ledger, and which of those it would be that count against the task.
func attemptText(u decide.Update) string {
	if u.Attempt == u.Try {
		return fmt.Sprintf("attempt %d/%d", u.Try, u.Max)
	}
	return fmt.Sprintf("attempt %d (counts as %d/%d)", u.Attempt, u.Try, u.Max)
}

// nextText returns text that says whether a task is tried again that failed.
func nextText(u decide.Update) string {
	if u.Spent {
		return "tried again only after other work lands"
	}
	return "will be tried again"
}

// requestText returns what a person has asked of the run, or what came of it, in words; "" of any other change.
func requestText(u decide.Update) string {
	switch u.Kind {
	case decide.Stopped:
		return fmt.Sprintf("%s stopped by a person after %s: relay retry %s tries it again", u.Task, plaintext.Span(u.Elapsed), u.Task)
	case decide.Request:
		return "on request: " + u.Text
	default: // the others are no line
		return ""
	}
}
