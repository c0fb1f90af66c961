package status

import (
	_ "embed" // of the texts
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Printer writes reports as text, as status.txt has them.
type Printer struct {
	Now     time.Time
	Width   int
	Verbose bool
	All     bool   // every task of a long epic has a line
	Dead    bool   // no run is active: what is in progress was interrupted
	Flag    string // that names the epic to other commands, as in " --epic ID"; "" : none is needed

	Paint terminal.Palette // of the output

	brief bool // a task has about two lines more at most
}

// InterruptedText is the state of a task that was in progress when its run died.
const InterruptedText = "interrupted"

//go:embed status.txt
var texts string

// Print writes what a template makes of something. more has templates besides those of this package, which it may use.
func (l Printer) Print(w io.Writer, more, name string, of any) {
	_, _ = io.WriteString(w, l.said(more, name, of))
}

func (l Printer) said(more, name string, of any) string {
	all, b := template.New(""), strings.Builder{}
	say := func(name string, of any) (string, error) {
		var part strings.Builder
		err := all.ExecuteTemplate(&part, name, of)
		return part.String(), err
	}
	all.Funcs(report.Functions()).Funcs(l.functions()).Funcs(template.FuncMap{"said": say})
	if err := template.Must(all.Parse(texts+more)).ExecuteTemplate(&b, name, of); err != nil {
		panic(err) // the templates are in the program
	}
	return b.String()
}

// functions are those of the templates.
func (l Printer) functions() template.FuncMap {
	return template.FuncMap{
		"good": l.Paint.Good, "bad": l.Paint.Bad, "wait": l.Paint.Wait, "strong": l.Paint.Strong, "dim": l.Paint.Dim,
		"pad": terminal.Pad, "escape": plaintext.Escape, "span": plaintext.Span, "slept": slept,
		"finish": view.Finish, "answering": view.Answering,
		"add": func(a, b int) int { return a + b }, "larger": func(a, b int) int { return max(a, b) },
		"time":  func(t time.Time) string { return FormatTime(t, l.Now) },
		"near":  func(t time.Time) string { return view.Near(t, l.Now, time.Local) },
		"since": func(t time.Time) string { return plaintext.Span(l.Now.Sub(t)) },
		"bar":   func(done, total int) string { return Bar(done, total, 20) },
		"next":  func(reason any) string { return report.Next(decide.EndReason(fmt.Sprint(reason))) },
		"again": func(command string) bool { return strings.HasPrefix(command, "relay ungate") },
		"flag":  func() string { return l.Flag }, "verbose": func() bool { return l.Verbose }, "dead": func() bool { return l.Dead },
		"counts":    func(c decide.Counts) string { return report.CountsText(c, l.Dead) },
		"hang":      func(text, indent string) string { return terminal.Hang(text, l.Width, indent) },
		"wraplines": func(text, indent string) string { return terminal.WrapLines(text, l.Width, indent) },
		"proof":     report.ProofText, "covering": func(r attempts.Receipt) []string { return report.Covering(&r) },
		"wrap": func(text, indent string) string { return terminal.Wrap(text, l.Width, indent) },
		"fitted": func(head, text string) string {
			return head + plaintext.Fit(text, max(l.Width-displaywidth.String(head), 20))
		},
		"item": func(text string) string { return "  " + terminal.Hang(text, l.Width, "    ") + "\n" },
		"line": l.line,
		"note": func(text string) string {
			if text == "" {
				return ""
			}
			return l.line("note", text)
		},
		"say": func(indent, label, text string) string {
			if strings.TrimSpace(text) == "" {
				return ""
			}
			return terminal.Wrap(label+text, l.Width, indent) + "\n"
		},
		"lines": func(text string) []string {
			if text = strings.TrimSpace(text); text == "" {
				return nil
			}
			return strings.Split(plaintext.Escape(text), "\n")
		},
		"most": func(s *Report) int {
			if l.long(s) {
				return mostGated
			}
			return 10
		},
		"listed": l.listed, "group": l.group, "row": l.row,
		"statement": func(r *attempts.Receipt) []report.Said { return report.StatementOf(&r.Statement) },
		"indented":  func(at *attempts.Attempt, indent string) indented { return indented{at, indent} },
		"before": func(a attempts.Attribution) string {
			if a == "" {
				return ""
			}
			return ", " + report.AttributionWords[a]
		},
	}
}

// indented is an attempt, and what is before each of its lines.
type indented struct {
	*attempts.Attempt
	Indent string
}

func spaced(word any) string { return strings.ReplaceAll(fmt.Sprint(word), "_", " ") }

// Write writes a report as text.
func Write(w io.Writer, s *Report, l Printer) {
	l.Dead, l.brief = s.Run.State != report.Running, l.long(s)
	l.Print(w, "", "status", s)
}

// RunSummary prints what happened in a run, what needs a person, and what to type.
func (l Printer) RunSummary(w io.Writer, s decide.Summary, now *Report) {
	l.Dead, l.brief = true, l.long(now) // the run is over
	l.Print(w, "", "summary", struct {
		decide.Summary
		Now *Report
	}{s, now})
}

// OpenTasks lists tasks that are not completed.
func (l Printer) OpenTasks(w io.Writer, head string, tasks []*Task) {
	l.Print(w, "", "opentasks", map[string]any{"Head": head, "Tasks": tasks})
}

// EpicReview prints the reviewers' verdict on the whole epic.
func (l Printer) EpicReview(w io.Writer, j *EpicReview) { l.Print(w, "", "review", j) }

// WriteRegressions names the checks that fail on all that has landed.
func WriteRegressions(w io.Writer, checks []string) { Printer{}.Print(w, "", "regressed", checks) }

// line returns a text behind a label.
func (l Printer) line(label, text string) string {
	return l.Paint.Wait(label) + strings.Repeat(" ", max(7-len(label), 1)) + terminal.Hang(text, l.Width, "       ") + "\n"
}

// row returns a task, and why it is not done.
func (l Printer) row(t *Task, widest int) string {
	tries, status := "", spaced(t.Status)
	if t.Attempt > 0 && t.Status != attempts.Completed {
		tries = fmt.Sprintf("%d/%d", t.Attempt, t.MaxAttempts)
	}
	if l.Dead && t.Status == attempts.InProgress {
		status = InterruptedText
	}
	const stateWidth = 11
	tail, before, after := l.tail(t, status), "  "+terminal.Pad(t.ID, widest)+"  ", fmt.Sprintf(" %4s  ", tries)
	room := max(l.Width-displaywidth.String(before+after+tail)-stateWidth, 20)
	dim := unmarked
	if t.Status == attempts.BlockedOn {
		dim = l.Paint.Dim
	}
	state := l.mark(status)(status) + strings.Repeat(" ", max(stateWidth-len(status), 0))
	lines := []string{before + state + after + dim(plaintext.Fit(t.Title, room)) + l.Paint.Dim(tail)}
	indent, most := strings.Repeat(" ", widest+4), maxWhy
	if l.brief {
		most = 2 * max(l.Width-len(indent), 20)
	}
	for _, why := range strings.FieldsFunc(l.why(t), func(r rune) bool { return r == '\n' }) {
		lines = append(lines, dim(terminal.Wrap(plaintext.Fit(why, most), l.Width, indent)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// tail returns what follows the title of a task.
func (l Printer) tail(t *Task, status string) string {
	switch {
	case status == InterruptedText:
	case !t.StartedAt.IsZero():
		return fmt.Sprintf("  (%s, %s)", plaintext.Fit(t.Row.Who(), 40), plaintext.Span(l.Now.Sub(t.StartedAt)))
	case l.brief && t.Row.FreesAll > 0:
		return "  (" + t.Row.Waiters() + ")"
	case t.Already:
		return "  (already done)"
	case t.Unverified:
		return "  (unverified)"
	}
	return ""
}

// mark returns what marks a state, which is in words.
func (l Printer) mark(state string) func(string) string {
	paint := map[string]func(string) string{
		"completed": l.Paint.Good, "gated": l.Paint.Bad, "waiting": l.Paint.Wait, InterruptedText: l.Paint.Wait,
		"in progress": l.Paint.Strong, "blocked": l.Paint.Dim,
	}[state]
	if paint == nil {
		return unmarked
	}
	return paint
}

func unmarked(s string) string { return s }

// maxWhy bounds what is said of one task, in columns.
const maxWhy = 300

// why returns text that says why a task is not done, if there is anything to say.
func (l Printer) why(t *Task) string {
	switch {
	case !t.Stopped.IsZero() && t.Status == attempts.Pending:
		return "stopped by you at " + FormatTime(t.Stopped, l.Now) + ": relay retry " + t.ID + l.Flag + " tries it again in this run"
	case t.Reason == attempts.AwaitsAnswer && len(t.Questions) > 0:
		return "asks you: " + strings.Join(t.Questions, "\nasks you: ")
	case t.Status == attempts.Gated:
		return plaintext.Fit((&attempts.Gate{Reason: t.Reason, Detail: t.Detail}).Text(), maxWhy)
	case t.open():
		return t.Row.Why
	}
	return ""
}

// FormatTime shows a time as near as needed: today's by the clock, others with their date.
func FormatTime(t, now time.Time) string {
	if t.IsZero() {
		return "at an unknown time"
	}
	return plaintext.LocalTimeOn(t, now, "15:04")
}

// Bar draws how many are done, in width columns and two brackets.
func Bar(done, total, width int) string {
	cells := done * width / max(total, 1)
	return "[" + strings.Repeat("#", cells) + strings.Repeat(".", width-cells) + "]"
}
