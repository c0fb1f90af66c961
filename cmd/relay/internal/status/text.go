package status

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Printer writes reports as text.
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

// Write writes a report as text.
func Write(w io.Writer, s *Report, l Printer) {
	l.Dead = s.Run.State != Running
	fmt.Fprintf(w, "epic   %s  %s\n", s.Epic.ID, plaintext.Fit(s.Epic.Title, max(l.Width-len(s.Epic.ID)-9, 20)))
	fmt.Fprintf(w, "run    %s\n", runText(s.Run, len(s.pick(func(t *Task) bool { return len(t.Looks) > 0 })), l.Now))
	if s.Run.Why != "" && s.Judged == nil { // else it is said there
		l.note(w, s.Run.Why)
		l.note(w, report.Next(decide.EndReason(s.Run.Reason)))
	}
	fmt.Fprintf(w, "tasks  %s %s\n", l.Paint.Good(Bar(s.Counts, 20)), report.CountsText(s.Counts, l.Dead))
	l.usage(w, s)
	if s.Branch != "" && s.Counts.Completed > 0 {
		l.work(w, s)
	}
	l.EpicReview(w, s.Judged)
	l.cooldowns(w, s)
	if s.ahead != "" {
		l.line(w, "ahead", s.ahead)
	}
	for _, warning := range s.Warnings {
		l.note(w, warning)
	}
	if n := len(s.pick(func(t *Task) bool { return t.Unverified })); n > 0 {
		fmt.Fprintf(w, l.Paint.Wait("note")+"   %s completed unverified: neither a check nor a reviewer proved it\n", plaintext.Count(n, "task"))
	}
	if s.Edited {
		fmt.Fprint(w, l.Paint.Wait("note")+"   attempt-ledger.yml was edited by someone else: relay ledger accept\n")
	}
	fmt.Fprintln(w)
	l.tasks(w, s, true)
	l.needsYou(w, s)
	WriteRegressions(w, s.Regressions)
}

// work prints where the work is.
func (l Printer) work(w io.Writer, s *Report) {
	switch {
	case s.Finished != "":
		fmt.Fprintf(w, "work   on %s, which has all of %s\n", plaintext.Fit(s.Finished, 60), s.Branch)
	case s.Branch != "":
		fmt.Fprintf(w, "work   on %s; %s lands it\n", s.Branch, view.Finish(s.From).Type+l.Flag)
	default:
		fmt.Fprintln(w, "work   in this checkout: git status, git log")
	}
}

// note prints a note for the user, if there is one.
func (l Printer) note(w io.Writer, text string) {
	if text != "" {
		l.line(w, "note", text)
	}
}

// line prints a text behind a label.
func (l Printer) line(w io.Writer, label, text string) {
	head := l.Paint.Wait(label) + strings.Repeat(" ", max(6-len(label), 0))
	fmt.Fprintf(w, "%s %s\n", head, terminal.Hang(text, l.Width, "       "))
}

// tasks lists the tasks, those that are completed too or only the others, of a long epic most in groups.
func (l Printer) tasks(w io.Writer, s *Report, completed bool) {
	if l.long(s) {
		l.grouped(w, s, completed)
		return
	}
	l.rows(w, s.pick(func(t *Task) bool { return completed || t.open() }))
}

// rows writes the tasks one by one, their states below each other.
func (l Printer) rows(w io.Writer, tasks []*Task) {
	widest := plaintext.WidestOf(tasks, func(t *Task) string { return t.ID })
	for _, t := range tasks {
		l.task(w, t, widest)
	}
}

// usage prints what all attempts have used and, where there are several, each agent and model; unpriced counts
// attempts of unknown cost.
func (l Printer) usage(w io.Writer, s *Report) {
	if s.Usage == (attempts.Usage{}) {
		return
	}
	fmt.Fprintf(w, "cost   %s\n", report.UsageText(s.Usage))
	unpriced := 0
	for _, one := range s.Spenders {
		unpriced += one.Unpriced
		if len(s.Spenders) > 1 || l.Verbose {
			who := strings.TrimSpace(plaintext.Fit(one.Runner, 20) + " " + plaintext.Fit(one.Model, 40))
			fmt.Fprintf(w, "       %s: %s, %s\n", who, report.UsageText(one.Usage), plaintext.Count(one.Attempts, "attempt"))
		}
	}
	if unpriced > 0 && s.Usage.CostUSD > 0 {
		fmt.Fprintf(w, "       excludes %s of unknown cost\n", plaintext.Count(unpriced, "attempt"))
	}
}

func (l Printer) task(w io.Writer, t *Task, widest int) {
	tries := ""
	if t.Attempt > 0 && t.Status != attempts.Completed {
		tries = fmt.Sprintf("%d/%d", t.Attempt, t.MaxAttempts)
	}
	status := strings.ReplaceAll(string(t.Status), "_", " ")
	if l.Dead && t.Status == attempts.InProgress {
		status = InterruptedText
	}
	head := fmt.Sprintf("  %s  %-11s %4s  ", terminal.Pad(t.ID, widest), status, tries)
	tail := l.tail(t, status)
	room := max(l.Width-displaywidth.String(head)-displaywidth.String(tail), 20)
	dim := unmarked
	if t.Status == attempts.BlockedOn {
		dim = l.Paint.Dim
	}
	state := l.mark(status)(status) + strings.Repeat(" ", max(11-len(status), 0))
	fmt.Fprintf(w, "  %s  %s %4s  %s%s\n", terminal.Pad(t.ID, widest), state, tries, dim(plaintext.Fit(t.Title, room)), l.Paint.Dim(tail))
	indent := strings.Repeat(" ", widest+4)
	most := maxWhy
	if l.brief {
		most = 2 * max(l.Width-len(indent), 20)
	}
	for _, why := range strings.FieldsFunc(l.why(t), func(r rune) bool { return r == '\n' }) {
		fmt.Fprintln(w, dim(terminal.Wrap(plaintext.Fit(why, most), l.Width, indent)))
	}
	if l.Verbose {
		for i := range t.Attempts {
			WriteAttempt(w, &t.Attempts[i], l, indent)
		}
	}
}

// tail returns what follows the title of a task.
func (l Printer) tail(t *Task, status string) string {
	switch {
	case status == InterruptedText:
	case !t.StartedAt.IsZero():
		return fmt.Sprintf("  (%s, %s)", plaintext.Fit(t.Runner, 20), plaintext.Span(l.Now.Sub(t.StartedAt)))
	case l.brief && t.row.FreesAll > 0:
		return "  (" + t.row.Waiters() + ")"
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
	case t.open() && t.StartedAt.IsZero():
		return t.row.Why
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

// Bar draws how many of the tasks are completed, in width columns and two brackets.
func Bar(c decide.Counts, width int) string {
	done := 0
	if c.Total > 0 {
		done = c.Completed * width / c.Total
	}
	return "[" + strings.Repeat("#", done) + strings.Repeat(".", width-done) + "]"
}

// OpenTasks lists tasks that are not completed.
func (l Printer) OpenTasks(w *terminal.Writer, head string, tasks []*Task) {
	if len(tasks) == 0 {
		return
	}
	fmt.Fprintln(w, head)
	l.rows(w, tasks[:min(len(tasks), MaxTasks)])
	if more := len(tasks) - MaxTasks; more > 0 {
		fmt.Fprintf(w, "  and %s more: relay status --verbose\n", plaintext.Count(more, "task"))
	}
}

// needsYou prints what a person should type, and for what.
func (l Printer) needsYou(w io.Writer, s *Report) {
	first := l.gated(w, s)
	c := s.Counts
	switch {
	case s.Run.State == Running:
	case c.Completed == c.Total:
		fmt.Fprintf(w, "\n%s\n", l.Paint.Good("all tasks are completed"))
	case c.Pending+c.InProgress > 0:
		next := "next:"
		if len(s.needs) > 0 {
			next = "then:"
		}
		fmt.Fprintf(w, "\n%s  %srelay work%s\n", l.Paint.Strong(next), first, l.Flag)
	}
}

// gated prints what a person should type for tasks that need one and runners that would not work, and returns what comes before relay work.
func (l Printer) gated(w io.Writer, s *Report) (first string) {
	most := 10
	if l.long(s) {
		most = mostGated
	}
	shown := s.needs[:min(len(s.needs), most)]
	widest := plaintext.WidestOf(shown, func(r *view.Row) string {
		if r.State == view.Look {
			return ""
		}
		return r.First.Type + l.Flag
	})
	if len(shown)+len(s.Refused) > 0 {
		fmt.Fprintf(w, "\n%s\n", l.Paint.Bad("needs you:"))
	}
	for _, row := range shown {
		l.need(w, row, widest, s.Run.State == Running)
	}
	if more := len(s.needs) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %s more: relay report%s\n", plaintext.Count(more, "task"), l.Flag)
	}
	for _, r := range s.Refused {
		shown := r.what + " (" + plaintext.Fit(strings.TrimPrefix(plaintext.Because(r.Why), ": "), maxWhy) + "): " + r.Fix
		writeItem(w, l, shown)
		first += r.Fix + "; then "
	}
	writeOpen(w, l, s)
	return first
}

// need prints what a person should type for a task, and for those with the same cause.
func (l Printer) need(w io.Writer, r *view.Row, widest int, running bool) {
	also := ""
	if len(r.Also) > 0 {
		also = "  (" + r.Alike() + ")"
	}
	if r.State == view.Look {
		l.look(w, r, also)
		return
	}
	what := r.First.For
	if r.State == view.Asks && !r.Equal && running {
		what = "answers it; the run continues its session"
	}
	for _, c := range r.Choices {
		why := " " + c.For
		if strings.HasPrefix(c.Type, "relay ungate") {
			why = " to " + c.For
		}
		what += ";  " + c.Type + l.Flag + why
	}
	fmt.Fprintf(w, "  %s      %s%s\n", terminal.Pad(r.First.Type+l.Flag, widest), what, also)
}

// look prints a completed task that a person has to look at, and what to type for it.
func (l Printer) look(w io.Writer, r *view.Row, also string) {
	id := r.ID + l.Flag
	if len(r.Also) > 0 {
		id = "--same " + id
	}
	writeItem(w, l, r.ID+" needs a look: "+r.Why+also)
	next := fmt.Sprintf("%s; then relay approve %s takes it as it is, or relay retry %s has it done again", r.First.Type+l.Flag, id, id)
	fmt.Fprintf(w, "    %s\n", terminal.Hang(next, l.Width, "      "))
}

// EpicReview prints the reviewers' verdict on the whole epic.
func (l Printer) EpicReview(w io.Writer, j *EpicReview) {
	if j == nil {
		return
	}
	fmt.Fprintf(w, "review %s\n", terminal.Hang("the whole epic: "+j.text, l.Width, "       "))
	switch {
	case j.Decision == "" || len(j.Added) > 0:
		fmt.Fprintln(w, "       "+report.Next(decide.EpicUnjudged))
	case len(j.Findings) > 0:
		fmt.Fprintln(w, "       relay init --append adds what the reviewers found as tasks")
	}
}

// cooldowns prints what keeps tasks from starting.
func (l Printer) cooldowns(w io.Writer, s *Report) {
	if !s.Paused.IsZero() {
		l.line(w, "wait", "paused by you since "+FormatTime(s.Paused, l.Now)+": relay pause --off"+l.Flag)
	}
	if wait := s.Waiting; wait != nil {
		l.line(w, "wait", plaintext.Fit("waiting until "+FormatTime(wait.Until, l.Now)+" for "+wait.For+plaintext.Because(wait.Why), maxWhy))
	}
	for _, c := range s.Cooldowns {
		if s.Waiting == nil || s.Waiting.For != c.Runner {
			l.line(w, "limit", plaintext.Fit(c.Runner+" is not asked before "+FormatTime(c.Until, l.Now)+plaintext.Because(c.Why), maxWhy))
		}
	}
	if len(s.Cooldowns) > 0 {
		hint := "relay work --ask-now asks at once"
		if s.Run.State == Running {
			hint += "; stop this run first, with Ctrl-C"
		}
		l.line(w, "", hint)
	}
}

// RunSummary prints what happened in a run, what needs a person, and what to type.
func (l Printer) RunSummary(w io.Writer, s decide.Summary, now *Report) {
	c := s.Counts
	l.Dead = true // the run is over
	headline := l.Paint.Wait
	if c.Completed == c.Total && s.Reason == decide.EpicComplete {
		headline = l.Paint.Good
	}
	fmt.Fprintf(w, "\n%s\n", headline(report.Headline(s.Reason, s.Left)))
	if next := report.Next(s.Reason); s.Why != "" {
		l.note(w, s.Why)
		l.note(w, next)
	}
	fmt.Fprintf(w, "tasks  %s %s\n", l.Paint.Good(Bar(now.Counts, 20)), report.CountsText(now.Counts, true))
	fmt.Fprintf(w, "time   %s, %s\n", plaintext.Span(s.Elapsed), plaintext.Count(s.Ended, "attempt"))
	if sum := slept(s.Suspends); sum > 0 {
		l.note(w, "the machine slept for "+plaintext.Span(sum)+": nothing was done then")
	}
	if now.PlanChanged {
		l.note(w, "epic.yml has changed since this run began: the next relay work uses it")
	}
	if u := s.Usage; u != (attempts.Usage{}) {
		fmt.Fprintf(w, "cost   %s\n", report.UsageText(u))
	}
	if c := now.Counts; c.Completed < c.Total {
		fmt.Fprintln(w)
		l.tasks(w, now, false)
	}
	if now.hasWork() {
		l.needsYou(w, now)
	} else {
		writeOpen(w, l, now)
	}
	WriteRegressions(w, s.Regressed)
	if c.Completed > 0 && s.Ended > 0 {
		fmt.Fprintln(w)
		l.work(w, now)
	}
}
