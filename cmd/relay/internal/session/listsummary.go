package session

import (
	"context"
	"fmt"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
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

// print prints how the list went, and how it stands now.
func (l *listRun) print(ctx context.Context) {
	a, took := l.command.app, time.Since(l.began)
	a.Out.Optional = true // the exit code tells of the night, not of the output
	if l.o.JSON {
		_, _ = l.said.WriteTo(a.Err)
		_ = a.PrintJSON(ListSummary{
			Version: 1, Playlist: l.project.Rel(l.list.Path), Name: l.list.Name, ExitCode: l.code,
			Seconds: float64(took.Milliseconds()) / 1000, Usage: l.spent, Epics: l.epics,
		})
		return
	}
	_, _ = l.said.WriteTo(a.Out)
	fmt.Fprintln(a.Out)
	now, err := status.ReadList(ctx, l.project, l.list)
	if err != nil {
		a.Warn("the state of the playlist cannot be read: " + terminal.Message(err))
		return
	}
	status.WriteListSummary(a.Out, now, cli.Printer(a, l.project), took)
}
