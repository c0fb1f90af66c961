package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/report"
)

// listing says how a standing is told.
type listing struct {
	now     time.Time
	width   int
	verbose bool
	dead    bool   // no run is on: what is in progress was interrupted
	branch  string // that has the work; "" : the one that is checked out
	from    string // the branch the epic began from; "" : none
	shared  bool   // the tasks worked side by side in the user's checkout
}

// interrupted is what was in progress when no run is on any more.
const interrupted = "interrupted"

// shortEpic is how many tasks are listed whole without being asked for.
const shortEpic = 50

// tellStanding writes a standing for a person.
func tellStanding(w io.Writer, s *standing, l listing) {
	l.dead = s.Run.State != runOn
	fmt.Fprintf(w, "epic   %s  %s\n", s.Epic.ID, line(s.Epic.Title, max(l.width-len(s.Epic.ID)-9, 20)))
	fmt.Fprintf(w, "run    %s\n", runText(s.Run, l.now))
	if s.Run.Why != "" && s.Judged == nil { // else it is said there
		l.note(w, s.Run.Why)
		l.note(w, report.Next(orchestrator.Reason(s.Run.Reason)))
	}
	fmt.Fprintf(w, "tasks  %s %s\n", bar(s.Counts, 20), l.countsText(s.Counts))
	l.cost(w, s)
	switch {
	case s.Finished != "":
		fmt.Fprintf(w, "work   on %s: relay finish has put all of %s there\n", line(s.Finished, 60), s.Branch)
	case s.Branch != "" && s.Counts.Completed > 0:
		fmt.Fprintf(w, "work   on %s; %s lands it\n", s.Branch, report.Finish(s.From).Type)
	}
	l.judged(w, s.Judged)
	l.held(w, s)
	if s.Forecast != nil {
		l.forecast(w, s)
	}
	for _, warning := range s.Warnings {
		l.note(w, warning)
	}
	if n := unverified(s); n > 0 {
		fmt.Fprintf(w, "note   %s completed unverified: neither a check nor a reviewer proved it\n", count(n, "task"))
	}
	if s.Edited {
		fmt.Fprint(w, "note   attempt-ledger.yml was edited by someone else: relay ledger accept\n")
	}
	fmt.Fprintln(w)
	l.tasks(w, s)
	l.needs(w, s)
	tellRelapses(w, s.Relapsed)
}

// note tells what a person should know, if anything.
func (l listing) note(w io.Writer, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(w, "note   %s\n", strings.TrimLeft(terminal.Wrap(text, l.width, "       "), " "))
}

// tasks lists the tasks, or of a long epic those that run or need a person.
func (l listing) tasks(w io.Writer, s *standing) {
	all := l.verbose || len(s.Tasks) <= shortEpic
	widest := 0
	for i := range s.Tasks {
		if all || urgent(&s.Tasks[i]) {
			widest = max(widest, len(s.Tasks[i].ID))
		}
	}
	left := 0
	for i := range s.Tasks {
		if !all && !urgent(&s.Tasks[i]) {
			left++
			continue
		}
		l.task(w, &s.Tasks[i], widest)
	}
	if left > 0 {
		fmt.Fprintf(w, "  and %s more: relay status --verbose\n", count(left, "task"))
	}
}

func unverified(s *standing) int {
	n := 0
	for i := range s.Tasks {
		if s.Tasks[i].Unverified {
			n++
		}
	}
	return n
}

// urgent is what is worth a line in a long list.
func urgent(t *taskState) bool {
	return t.Status == attempts.Gated || t.Status == attempts.InProgress
}

func (l listing) task(w io.Writer, t *taskState, widest int) {
	tries := ""
	if t.Attempt > 0 && t.Status != attempts.Completed {
		tries = fmt.Sprintf("%d/%d", t.Attempt, t.MaxAttempts)
	}
	status, tail := strings.ReplaceAll(string(t.Status), "_", " "), ""
	cut := l.dead && t.Status == attempts.InProgress
	if cut {
		status = interrupted
	}
	head := fmt.Sprintf("  %s  %-11s %4s  ", terminal.Pad(t.ID, widest), status, tries)
	switch {
	case cut:
	case t.StartedAt != nil:
		tail = fmt.Sprintf("  (%s, %s)", line(t.Runner, 20), span(l.now.Sub(*t.StartedAt)))
	case t.Already:
		tail = "  (already done)"
	case t.Unverified:
		tail = "  (unverified)"
	}
	room := max(l.width-displaywidth.String(head)-displaywidth.String(tail), 20)
	fmt.Fprintf(w, "%s%s%s\n", head, line(t.Title, room), tail)
	indent := strings.Repeat(" ", widest+4)
	if why := l.why(t); why != "" {
		fmt.Fprintln(w, terminal.Wrap(why, l.width, indent))
	}
	if l.verbose {
		for i := range t.Attempts {
			tellAttempt(w, &t.Attempts[i], l, indent)
		}
	}
}

// maxWhy bounds what is said of one task, in columns.
const maxWhy = 300

// why says why a task is not done, if there is anything to say.
func (l listing) why(t *taskState) string {
	switch {
	case t.Status == attempts.Gated && t.Detail != "":
		return line(string(t.Reason)+": "+t.Detail, maxWhy)
	case t.Status == attempts.Gated:
		return string(t.Reason)
	case t.Status == attempts.BlockedOn && len(t.RootCauses) > 0:
		return "blocked by " + strings.Join(t.RootCauses, ", ") + " (gated)"
	case t.Status == attempts.BlockedOn:
		return "waits for " + some(t.WaitsFor, 5)
	case t.Status == attempts.Pending && t.LastError != "":
		return line("last time: "+t.LastError, maxWhy)
	}
	return ""
}

// needs says what a person should type, and for what.
func (l listing) needs(w io.Writer, s *standing) {
	const most = 10
	told, widest := 0, 0
	for i, n := 0, 0; i < len(s.Tasks) && n < most; i++ {
		if s.Tasks[i].Status == attempts.Gated {
			widest, n = max(widest, len(s.Tasks[i].ID)), n+1
		}
	}
	for i := range s.Tasks {
		t := &s.Tasks[i]
		if t.Status != attempts.Gated {
			continue
		}
		if told++; told == 1 {
			fmt.Fprint(w, "\nneeds you:\n")
		}
		if told > most {
			continue
		}
		fmt.Fprintf(w, "  relay show %s      what was tried;  relay ungate %s to try again\n", terminal.Pad(t.ID, widest), t.ID)
	}
	if told > most {
		fmt.Fprintf(w, "  and %d more gated tasks\n", told-most)
	}
	doubtful := slices.DeleteFunc(slices.Clone(s.Tasks), func(t taskState) bool { return len(t.Doubtful) == 0 })
	if told == 0 && len(s.Refused)+len(doubtful) > 0 {
		fmt.Fprint(w, "\nneeds you:\n")
	}
	l.doubtful(w, doubtful)
	first := l.refused(w, s.Refused)
	c := s.Counts
	switch {
	case s.Run.State == runOn:
	case c.Completed == c.Total:
		fmt.Fprint(w, "\nall tasks are completed\n")
	case c.Pending+c.InProgress > 0:
		fmt.Fprintf(w, "\nnext:  %srelay work\n", first)
	}
}

// doubtful names the completed tasks whose tests prove less than before, and what to type for each.
func (l listing) doubtful(w io.Writer, tasks []taskState) {
	const most = 10
	for i := range tasks[:min(len(tasks), most)] {
		t := &tasks[i]
		fmt.Fprintf(w, "  %s\n", strings.TrimLeft(terminal.Wrap(doubtText(t.ID, t.Doubtful), l.width, "    "), " "))
	}
	if rest := len(tasks) - most; rest > 0 {
		fmt.Fprintf(w, "  and %d more tasks whose tests prove less than before\n", rest)
	}
}

// doubtText says which tests of a completed task need a person, and what to type.
func doubtText(id string, tests []string) string {
	return fmt.Sprintf("%s: look at its tests: %s: relay show %s --diff; relay ungate %s takes them as they are, relay retry %s has it done again",
		id, line(strings.Join(tests, "; "), maxWhy), id, id, id)
}

// refused names the runners that would not work and what to type for each, and returns what comes before relay work.
func (l listing) refused(w io.Writer, list []refused) (first string) {
	for _, r := range list {
		text := r.what + " (" + strings.TrimPrefix(after(r.Why), ": ") + "): " + r.Fix
		fmt.Fprintf(w, "  %s\n", strings.TrimLeft(terminal.Wrap(line(text, maxWhy), l.width, "    "), " "))
		first += r.Fix + "; then "
	}
	return first
}

func runText(r runState, now time.Time) string {
	switch r.State {
	case runNever:
		return "none yet"
	case runOn:
		text := "running"
		if r.StartedAt != nil {
			text += fmt.Sprintf(" since %s (%s)", moment(*r.StartedAt, now), span(now.Sub(*r.StartedAt)))
		}
		if r.Until != nil {
			text += ", until " + moment(*r.Until, now)
		}
		return fmt.Sprintf("%s, process %d on %s", text, r.PID, r.Host)
	case runCrashed:
		return fmt.Sprintf("the last one (process %d) died without a word; relay work continues", r.PID)
	}
	why := strings.ReplaceAll(r.Reason, "_", " ")
	if r.Reason == string(orchestrator.NoRunnableTasks) {
		if why = "what could be done is done"; *r.ExitCode == exit.OK {
			why = "the tasks you named are completed"
		}
	}
	text := fmt.Sprintf("stopped %s: %s", moment(*r.StoppedAt, now), why)
	if *r.ExitCode != 0 {
		text += fmt.Sprintf(" (exit code %d)", *r.ExitCode)
	}
	return text
}

// moment shows a time as near as needed: today's by the clock, others with their date.
func moment(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Year() == now.Year() && t.YearDay() == now.YearDay() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

func bar(c orchestrator.Counts, width int) string {
	done := 0
	if c.Total > 0 {
		done = c.Completed * width / c.Total
	}
	return "[" + strings.Repeat("#", done) + strings.Repeat(".", width-done) + "]"
}

func (l listing) countsText(c orchestrator.Counts) string {
	return report.Standing(c, l.dead)
}
