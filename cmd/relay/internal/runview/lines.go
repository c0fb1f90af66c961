package runview

import (
	"bytes"
	"fmt"
	"strconv"
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

// updateTexts say what has changed, with what stands in braces from the update; a kind that is missing has no line.
var updateTexts = map[decide.UpdateKind]string{
	decide.UpdateRun:     "run {text}: {done} of {total} completed{budget}",
	decide.Started:       "{task} {attempt} started ({runner}): {title}",
	decide.SettingUp:     "{task} setting up: {text}",
	decide.Checking:      "{task} checking: {text}",
	decide.Reviewing:     "{task} in review{why}",
	decide.Mending:       "{task} fixing what reviewers found: {text}",
	decide.Completed:     "{task} completed in {taken}, {done} of {total} done{why}",
	decide.UpdateFailed:  "{task} {attempt} failed after {taken}, {next}{why}",
	decide.Retry:         "{task} ended uncharged, will be tried again{why}",
	decide.Held:          "{task} waits until nothing else can be done{why}",
	decide.Gated:         "{task} gated{why}",
	decide.UpdateWaiting: "waiting until {until} for {runner}{why} ({meanwhile})",
	decide.Cramped:       "waiting until {until} for {runner}{why}",
	decide.Paused:        "waiting until {until} for {runner}{why}",
	decide.Note:          "note: {task} {text}",
	decide.Stopping:      "stopping{why}",
	decide.Stopped:       "{task} stopped by a person after {elapsed}: relay retry {task} tries it again",
	decide.Request:       "on request: {text}",
}

// marks are of what is over, went wrong or waits; a kind that is missing has none.
var marks = map[decide.UpdateKind]func(terminal.Palette, string) string{
	decide.UpdateRun: terminal.Palette.Strong, decide.Completed: terminal.Palette.Good,
	decide.UpdateFailed: terminal.Palette.Bad, decide.Gated: terminal.Palette.Bad,
	decide.Retry: terminal.Palette.Wait, decide.Held: terminal.Palette.Wait, decide.UpdateWaiting: terminal.Palette.Wait,
	decide.Cramped: terminal.Palette.Wait, decide.Paused: terminal.Palette.Wait, decide.Note: terminal.Palette.Wait,
	decide.Stopping: terminal.Palette.Wait,
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
	head, why, found := strings.Cut(said, ": ")
	if found {
		why = ": " + why
	}
	if mark := marks[u.Kind]; mark != nil {
		head = mark(paint, head)
	}
	return paint.Dim(u.At.Local().Format(time.TimeOnly)) + " " + head + why
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
	budget := ""
	if u.Budget != "" {
		budget = ", " + u.Budget
	}
	return plaintext.Fit(strings.NewReplacer(
		"{task}", u.Task, "{title}", u.Title, "{text}", u.Text, "{why}", plaintext.Because(u.Text), "{runner}", u.Runner,
		"{attempt}", attemptText(u), "{taken}", taken(u), "{elapsed}", plaintext.Span(u.Elapsed), "{next}", nextText(u),
		"{done}", strconv.Itoa(u.Counts.Completed), "{total}", strconv.Itoa(u.Counts.Total), "{budget}", budget,
		"{until}", plaintext.LocalTimeOn(u.Until, u.At, time.TimeOnly), "{meanwhile}", meanwhile(u),
	).Replace(updateTexts[u.Kind]), maxLine)
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
		return "no attempt is left unless other work lands first"
	}
	return "will be tried again"
}
