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
)

// Printer writes reports as text.
type Printer struct {
	Now     time.Time
	Width   int
	Verbose bool
	All     bool   // every task of a long epic has a line
	Dead    bool   // no run is active: what is in progress was interrupted
	Branch  string // that has the work; "" : the one that is checked out
	From    string // the branch the epic began from; "" : none
	Flag    string // that names the epic to other commands, as in " --epic ID"; "" : none is needed
	Shared  bool   // the tasks worked side by side in the user's checkout

	Paint terminal.Palette // of the output

	brief bool // a task has about two lines more at most
}

// InterruptedText is the state of a task that was in progress when its run died.
const InterruptedText = "interrupted"

// Write writes a report as text.
func Write(w io.Writer, s *Report, l Printer) {
	l.Dead = s.Run.State != Running
	fmt.Fprintf(w, "epic   %s  %s\n", s.Epic.ID, plaintext.Fit(s.Epic.Title, max(l.Width-len(s.Epic.ID)-9, 20)))
	fmt.Fprintf(w, "run    %s\n", runText(s.Run, l.Now))
	if s.Run.Why != "" && s.Judged == nil { // else it is said there
		l.note(w, s.Run.Why)
		l.note(w, report.Next(decide.EndReason(s.Run.Reason)))
	}
	fmt.Fprintf(w, "tasks  %s %s\n", l.Paint.Good(Bar(s.Counts, 20)), l.CountsText(s.Counts))
	l.usage(w, s)
	switch {
	case s.Finished != "":
		fmt.Fprintf(w, "work   on %s, which has all of %s\n", plaintext.Fit(s.Finished, 60), s.Branch)
	case s.Branch != "" && s.Counts.Completed > 0:
		fmt.Fprintf(w, "work   on %s; %s lands it\n", s.Branch, report.Finish(s.From).Type+l.Flag)
	}
	l.EpicReview(w, s.Judged)
	l.cooldowns(w, s)
	if s.Forecast != nil {
		l.forecast(w, s)
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
	l.tasks(w, s)
	l.needsYou(w, s)
	WriteRegressions(w, s.Regressions)
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
	fmt.Fprintf(w, "%s %s\n", head, strings.TrimLeft(terminal.Wrap(text, l.Width, "       "), " "))
}

// tasks lists the tasks, of a long epic most in groups.
func (l Printer) tasks(w io.Writer, s *Report) {
	if l.long(s) {
		l.grouped(w, s, true)
		return
	}
	l.rows(w, s.pick(func(*Task) bool { return true }))
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
	status, tail := strings.ReplaceAll(string(t.Status), "_", " "), ""
	cut := l.Dead && t.Status == attempts.InProgress
	if cut {
		status = InterruptedText
	}
	head := fmt.Sprintf("  %s  %-11s %4s  ", terminal.Pad(t.ID, widest), status, tries)
	switch {
	case cut:
	case !t.StartedAt.IsZero():
		tail = fmt.Sprintf("  (%s, %s)", plaintext.Fit(t.Runner, 20), plaintext.Span(l.Now.Sub(t.StartedAt)))
	case t.holds > 0:
		tail = fmt.Sprintf("  (%s %s)", plaintext.Count(t.holds, "task"), plaintext.Verb(t.holds, "waits", "wait"))
	case t.Already:
		tail = "  (already done)"
	case t.Unverified:
		tail = "  (unverified)"
	}
	room := max(l.Width-displaywidth.String(head)-displaywidth.String(tail), 20)
	dim := unmarked
	if t.Status == attempts.BlockedOn {
		dim = l.Paint.Dim
	}
	state := l.stateColour(t.Status, cut)(status) + strings.Repeat(" ", max(11-len(status), 0))
	fmt.Fprintf(w, "  %s  %s %4s  %s%s\n", terminal.Pad(t.ID, widest), state, tries, dim(plaintext.Fit(t.Title, room)), l.Paint.Dim(tail))
	indent := strings.Repeat(" ", widest+4)
	most := maxWhy
	if l.brief {
		most = 2 * max(l.Width-len(indent), 20)
	}
	if why := plaintext.Fit(l.why(t), most); why != "" {
		fmt.Fprintln(w, dim(terminal.Wrap(why, l.Width, indent)))
	}
	if l.Verbose {
		for i := range t.Attempts {
			WriteAttempt(w, &t.Attempts[i], l, indent)
		}
	}
}

// stateColour returns what marks the state of a task.
func (l Printer) stateColour(s attempts.Status, interrupted bool) func(string) string {
	switch {
	case interrupted:
		return l.Paint.Wait
	case s == attempts.Completed:
		return l.Paint.Good
	case s == attempts.Gated:
		return l.Paint.Bad
	case s == attempts.InProgress:
		return l.Paint.Strong
	case s == attempts.BlockedOn:
		return l.Paint.Dim
	}
	return unmarked
}

func unmarked(s string) string { return s }

// maxWhy bounds what is said of one task, in columns.
const maxWhy = 300

// why returns text that says why a task is not done, if there is anything to say.
func (l Printer) why(t *Task) string {
	switch {
	case !t.Stopped.IsZero() && t.Status == attempts.Pending:
		return "stopped by you at " + FormatTime(t.Stopped, l.Now) + ": relay retry " + t.ID + l.Flag + " tries it again in this run"
	case t.Status == attempts.Gated:
		return plaintext.Fit((&attempts.Gate{Reason: t.Reason, Detail: t.Detail}).Text(), maxWhy)
	case t.Status == attempts.BlockedOn && len(t.RootCauses) > 0:
		return "blocked by " + strings.Join(t.RootCauses, ", ") + " (gated)"
	case t.Status == attempts.BlockedOn:
		return "waits for " + plaintext.Some(t.WaitsFor, 5)
	case t.Status == attempts.Pending && t.LastError != "":
		return plaintext.Fit("last time: "+t.LastError, maxWhy)
	}
	return ""
}

func runText(r Run, now time.Time) string {
	switch r.State {
	case neverRan:
		return "none yet"
	case Running:
		shown := "running"
		if !r.StartedAt.IsZero() {
			shown += fmt.Sprintf(" since %s (%s)", FormatTime(r.StartedAt, now), plaintext.Span(now.Sub(r.StartedAt)))
		}
		if !r.Until.IsZero() {
			shown += ", until " + FormatTime(r.Until, now)
		}
		return fmt.Sprintf("%s, process %d on %s", shown, r.PID, r.Host)
	case crashed:
		switch {
		case r.Host != "":
			return fmt.Sprintf("held by process %d on %s, another machine; if it is over, remove the file lock in relay's folder", r.PID, r.Host)
		case r.PID == 0:
			return "the last one was killed; relay work continues"
		}
		return fmt.Sprintf("the last one (process %d) was killed; relay work continues", r.PID)
	}
	why := strings.ReplaceAll(r.Reason, "_", " ")
	if r.Reason == string(decide.NoRunnableTasks) {
		if why = "nothing is left that can run"; *r.ExitCode == terminal.OK {
			why = "the tasks you named are completed"
		}
	}
	shown := "stopped"
	if !r.StoppedAt.IsZero() {
		shown += " " + FormatTime(r.StoppedAt, now)
	}
	shown += plaintext.Because(why)
	if *r.ExitCode != 0 {
		shown += fmt.Sprintf(" (exit code %d)", *r.ExitCode)
	}
	return shown
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

// CountsText returns text that says how many tasks are in which state.
func (l Printer) CountsText(c decide.Counts) string {
	said := report.CountsText(c, l.Dead)
	if c.Gated > 0 {
		gated := fmt.Sprintf("%d gated", c.Gated)
		said = strings.Replace(said, gated, l.Paint.Bad(gated), 1)
	}
	return said
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
		fmt.Fprintf(w, "\n%s  %srelay work%s\n", l.Paint.Strong("next:"), first, l.Flag)
	}
}

// gated prints what a person should type for tasks to look at, gated tasks and runners that would not work, and returns what comes
// before relay work.
func (l Printer) gated(w io.Writer, s *Report) (first string) {
	tasks, most := s.gatedFirst(), 10
	if l.long(s) {
		most = mostGated
	}
	shown := tasks[:min(len(tasks), most)]
	widest := plaintext.WidestOf(shown, func(t *Task) string { return l.show(t).Type })
	looks := s.pick((*Task).needsLook)
	if len(shown)+len(s.Refused)+len(looks) > 0 {
		fmt.Fprintf(w, "\n%s\n", l.Paint.Bad("needs you:"))
	}
	l.looks(w, looks)
	for _, t := range shown {
		show := l.show(t)
		again := ";  relay ungate " + t.ID + l.Flag + " to try again"
		if t.Reason == attempts.AwaitsAnswer {
			again = ""
		}
		fmt.Fprintf(w, "  %s      %s%s\n", terminal.Pad(show.Type, widest), show.For, again)
	}
	if more := len(tasks) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %d more gated tasks\n", more)
	}
	for _, r := range s.Refused {
		shown := r.what + " (" + plaintext.Fit(strings.TrimPrefix(plaintext.Because(r.Why), ": "), maxWhy) + "): " + r.Fix
		writeItem(w, l, shown)
		first += r.Fix + "; then "
	}
	writeOpen(w, l, s)
	return first
}

// show returns the command that shows the whole of what a gated task failed by.
func (l Printer) show(t *Task) report.Command {
	whole := report.Untried(t.ID)
	if t.Reason == attempts.AwaitsAnswer {
		whole = report.Answering(t.ID)
	} else if t.last != nil {
		whole = report.Whole(t.ID, t.last.Outcome, &t.last.Receipt)
	}
	whole.Type += l.Flag
	return whole
}

// looks names the completed tasks that a person has to look at, and what to type for each.
func (l Printer) looks(w io.Writer, tasks []*Task) {
	const most = 10
	for _, t := range tasks[:min(len(tasks), most)] {
		id := t.ID + l.Flag
		said := fmt.Sprintf("%s: look at this: %s: %s; relay approve %s takes it as it is, relay retry %s has it done again",
			t.ID, plaintext.Fit(report.Seen(t.Looks), maxWhy), report.Showing(t.ID, t.Looks).Type+l.Flag, id, id)
		writeItem(w, l, said)
	}
	if rest := len(tasks) - most; rest > 0 {
		fmt.Fprintf(w, "  and %d more tasks to look at\n", rest)
	}
}

// AskLooks names completed tasks that a person has to look at before they land, on w, and asks whether to go on. It fails for a no.
func AskLooks(w io.Writer, l Printer, json bool, tasks []*Task, confirm func(question string) bool) error {
	if len(tasks) == 0 {
		return nil
	}
	if !json {
		fmt.Fprintln(w, "look at these first:")
		l.looks(w, tasks)
	}
	if confirm("land them all the same?") {
		return nil
	}
	return &terminal.Hinted{
		Err:  fmt.Errorf("nothing was landed: %s of the epic %s a look", plaintext.Count(len(tasks), "task"), plaintext.Verb(len(tasks), "needs", "need")),
		Hint: "relay approve TASK takes one as it is; relay finish --yes lands them all the same", Code: terminal.Gated,
	}
}
