package session

import (
	"fmt"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/report"
)

// States of an epic in the summary of a list.
const (
	epicCompletedBefore = "completed_before"
	epicCompleted       = "completed"
	epicFailed          = "failed"  // it did not complete
	epicStopped         = "stopped" // by the user, a deadline, a budget, or because no runner is left
	epicPending         = "pending" // it has not begun
)

// ListSummary is what relay work --playlist --json prints when it ends.
type ListSummary struct {
	Version  int             `json:"version"`
	Playlist string          `json:"playlist"` // file
	Name     string          `json:"name"`
	ExitCode int             `json:"exit_code"`
	Seconds  float64         `json:"seconds"`
	Usage    attempts.Usage  `json:"usage"`
	Epics    []ListedSummary `json:"epics"` // in the order of the list
}

// ListedSummary is one epic of a ListSummary.
type ListedSummary struct {
	ID       string          `json:"id"`
	Title    string          `json:"title"`
	File     string          `json:"file"`
	State    string          `json:"state"`
	ExitCode int             `json:"exit_code"`
	Error    string          `json:"error,omitempty"`
	Run      *status.Summary `json:"run,omitempty"` // as relay work --json prints it; nil: it was not run
}

// print prints how the list went.
func (l *listRun) print() {
	l.command.app.Out.Optional = true // the exit code tells of the night, not of the output
	took := time.Since(l.began)
	if l.o.JSON {
		_, _ = l.said.WriteTo(l.command.app.Err)
		_ = l.command.app.PrintJSON(ListSummary{
			Version: 1, Playlist: l.project.Rel(l.list.Path), Name: l.list.Name, ExitCode: l.code,
			Seconds: float64(took.Milliseconds()) / 1000, Usage: l.spent, Epics: l.epics,
		})
		return
	}
	_, _ = l.said.WriteTo(l.command.app.Out)
	w, done, ended := l.command.app.Out, 0, 0
	for i := range l.epics {
		if s := l.epics[i].State; s == epicCompleted || s == epicCompletedBefore {
			done++
		}
		if run := l.epics[i].Run; run != nil {
			ended += run.Attempts
		}
	}
	fmt.Fprintf(w, "\nlist   %s: %d of %s completed\n", plaintext.Fit(l.list.Name, 60), done, plaintext.Count(len(l.epics), "epic"))
	writeListed(l, w)
	fmt.Fprintf(w, "time   %s, %s\n", plaintext.Span(took), plaintext.Count(ended, "attempt"))
	if l.spent != (attempts.Usage{}) {
		fmt.Fprintf(w, "cost   %s\n", report.UsageText(l.spent))
	}
	file := plaintext.ShellWord(l.project.Rel(l.list.Path))
	if done < len(l.epics) {
		fmt.Fprintf(w, "next:  relay work --playlist %s\n", file)
	}
}

// writeListed writes a line for each epic.
func writeListed(l *listRun, w *terminal.Writer) {
	widest := plaintext.WidestOf(l.epics, func(e ListedSummary) string { return e.ID })
	for i := range l.epics {
		e := &l.epics[i]
		head := fmt.Sprintf("  %s  %s  ", terminal.Pad(e.ID, widest), terminal.Pad(e.stateText(), len("completed before")))
		fmt.Fprintln(w, head+plaintext.Fit(e.Title, max(terminal.Columns(w.Dest)-len(head), 20)))
	}
}

// stateText returns the state of an epic in words.
func (e *ListedSummary) stateText() string {
	switch {
	case e.State == epicCompletedBefore:
		return "completed before"
	case e.State == epicPending:
		return "not begun"
	case e.ExitCode == terminal.Gated:
		return "needs you"
	case e.State == epicFailed:
		return fmt.Sprintf("exit code %d", e.ExitCode)
	}
	return e.State
}
