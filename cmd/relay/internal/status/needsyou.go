package status

import (
	"fmt"
	"io"
	"strings"

	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/report"
	"relay/orchestrator/text"
)

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

// gated prints what a person should type for gated tasks, weakened tests and runners that would not work, and returns what comes
// before relay work.
func (l Printer) gated(w io.Writer, s *Report) (first string) {
	tasks, most := s.gatedFirst(), 10
	if l.long(s) {
		most = mostGated
	}
	shown, widest := tasks[:min(len(tasks), most)], 0
	for _, t := range shown {
		show, _ := l.show(t)
		widest = max(widest, len(show))
	}
	if len(shown) > 0 {
		fmt.Fprintf(w, "\n%s\n", l.Paint.Bad("needs you:"))
	}
	for _, t := range shown {
		show, what := l.show(t)
		fmt.Fprintf(w, "  %s      %s;  relay ungate %s to try again\n", terminal.Pad(show, widest), what, t.ID+l.Flag)
	}
	if more := len(tasks) - len(shown); more > 0 {
		fmt.Fprintf(w, "  and %d more gated tasks\n", more)
	}
	doubtful := s.pick((*Task).doubtful)
	if len(shown) == 0 && len(s.Refused)+len(doubtful) > 0 {
		fmt.Fprintf(w, "\n%s\n", l.Paint.Bad("needs you:"))
	}
	l.doubtful(w, doubtful)
	for _, r := range s.Refused {
		shown := r.what + " (" + strings.TrimPrefix(text.After(r.Why), ": ") + "): " + r.Fix
		fmt.Fprintf(w, "  %s\n", strings.TrimLeft(terminal.Wrap(text.Line(shown, maxWhy), l.Width, "    "), " "))
		first += r.Fix + "; then "
	}
	return first
}

// show returns the command that shows the whole of what a gated task failed by, and what that is.
func (l Printer) show(t *Task) (command, what string) {
	whole := report.Untried(t.ID)
	if t.last != nil {
		whole = report.Whole(t.ID, t.last.Outcome, &t.last.Receipt)
	}
	return whole.Type + l.Flag, whole.For
}

// doubtful names the completed tasks whose tests prove less than before, and what to type for each.
func (l Printer) doubtful(w io.Writer, tasks []*Task) {
	const most = 10
	for _, t := range tasks[:min(len(tasks), most)] {
		id := t.ID + l.Flag
		said := fmt.Sprintf("%s: look at its tests: %s: relay show %s --diff; relay ungate %s takes them as they are, relay retry %s has it done again",
			t.ID, text.Line(strings.Join(t.Doubtful, "; "), maxWhy), id, id, id)
		fmt.Fprintf(w, "  %s\n", strings.TrimLeft(terminal.Wrap(said, l.Width, "    "), " "))
	}
	if rest := len(tasks) - most; rest > 0 {
		fmt.Fprintf(w, "  and %d more tasks with weakened tests\n", rest)
	}
}
