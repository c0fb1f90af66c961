// Package runreport makes the report of a session from its log and the ledger, and writes it into files.
package runreport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/report"
)

// Formats are the forms of a report.
var Formats = []string{"md", "html", "json"}

// Journal reads from the logs what a report says of the session that ended with a run; "" is the newest.
func Journal(p *project.Project, run string) (*report.Journal, error) {
	journal := report.NewJournal(run)
	err := attempts.Replay(p.Dir, func(e attempts.Event) error {
		journal.Add(e)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an epic that was written by hand has none yet
	}
	return journal, err
}

// Make returns the report of a session.
func Make(a *cli.App, p *project.Project, pl *project.Plan, view *attempts.View, journal *report.Journal) *report.Report {
	warnings := slices.Concat(status.NeverBegan(p, view.Ledger.Status.StartedAt), p.Damage, view.Warnings)
	if view.Edit != "" {
		warnings = append(warnings, "attempt-ledger.yml was edited by someone else: relay ledger accept")
	}
	return report.Make(report.Input{
		Epic: pl.Epic, Graph: pl.Graph, Ledger: view.Ledger, Journal: journal, Running: view.Running,
		MaxAttempts: p.Config.Relay.MaxAttemptsPerTask, Budget: p.Budget(), Warnings: warnings, Now: a.Now(), Redact: p.Redactor(),
		Flag: p.EpicFlag(), Refused: status.ForReport(status.Refusing(p, pl, view.Ledger)),
	})
}

// Report is a report on an epic, or on the epics of a playlist.
type Report interface {
	Markdown(w io.Writer, zone *time.Location) error
	HTML(w io.Writer, zone *time.Location) error
	JSON(w io.Writer) error
}

// Write writes a report in one of Formats.
func Write(w io.Writer, r Report, format string) error {
	switch format {
	case "json":
		return r.JSON(w)
	case "html":
		return r.HTML(w, time.Local)
	}
	return r.Markdown(w, time.Local)
}

// Print writes a report in a format for a person to read at once: the headings of markdown are coloured.
func Print(w *terminal.Writer, r Report, format string) error {
	if format != "md" || w.Palette == (terminal.Palette{}) {
		return Write(w, r, format)
	}
	var page bytes.Buffer
	err := Write(&page, r, format)
	for line := range strings.Lines(page.String()) {
		text := strings.TrimSuffix(line, "\n")
		switch {
		case text == "## Needs you":
			text = w.Palette.Bad(text)
		case strings.HasPrefix(text, "#"), strings.HasPrefix(text, "**"):
			text = w.Palette.Strong(text)
		}
		fmt.Fprintln(w, text)
	}
	return err
}

// Replace writes a report into a file, as harmless as on a terminal.
func Replace(a *cli.App, path string, mode fs.FileMode, r Report, format string) error {
	return project.ReplaceWith(path, mode, func(w io.Writer) error {
		out := terminal.NewWriter(w)
		out.Redact = a.Secrets.Values
		return errors.Join(Write(out, r, format), out.Failure())
	})
}

// Ended is a run that is over, and the ledger as it is now.
type Ended struct {
	Run  string
	View *attempts.View
}

// Keep writes the report of a run that is over beside its log. Nothing is decided by it: a report that cannot be written is a warning.
func Keep(a *cli.App, p *project.Project, pl *project.Plan, ended Ended) {
	journal, err := Journal(p, ended.Run)
	if err == nil && !journal.HasRun() { // it came to its end before it began
		return
	}
	r := Make(a, p, pl, ended.View, journal)
	for _, format := range []string{"md", "json"} {
		if err == nil {
			err = Replace(a, p.File(attempts.RunsDir, ended.Run, "report."+format), 0o600, r, format)
		}
	}
	if err != nil {
		fmt.Fprintf(a.Err, "relay: warning: there is no report of this run: %v; relay report makes one\n", err)
	}
}

// ForList makes the report on a playlist: how the list stands, and of each epic its last night. It fails when a ledger cannot be read.
func ForList(ctx context.Context, a *cli.App, p *project.Project, list *project.List) (*report.List, error) {
	s, err := status.ReadList(ctx, p, list, a.Now())
	if err != nil {
		return nil, err
	}
	l := &report.List{
		Version: 1, MadeAt: a.Now().UTC(), Playlist: s.Playlist, Name: s.Name, Current: s.Current, Completed: s.Counts.Completed, Usage: s.Usage,
		Epics: []report.Listed{},
	}
	for i := range s.Epics {
		e := &s.Epics[i]
		one := report.Listed{
			ID: e.ID, Title: e.Title, File: e.File, State: string(e.State), Words: e.State.Text(), Finished: e.Status.Finished,
			Done: e.Status.Counts.Completed, Total: e.Status.Counts.Total,
		}
		if one.Report, err = ofListed(ctx, a, list.Listed[i].Project); err != nil {
			return nil, fmt.Errorf("epic %s: %w", e.ID, err)
		}
		l.Epics = append(l.Epics, one)
	}
	return l, nil
}

// ofListed makes the report on one epic; nil when it has had no run.
func ofListed(ctx context.Context, a *cli.App, p *project.Project) (*report.Report, error) {
	journal, err := Journal(p, "")
	if err != nil || len(journal.Runs()) == 0 {
		return nil, err
	}
	pl, view, warning, err := p.Read(ctx)
	if err != nil {
		return nil, err
	}
	r := Make(a, p, pl, view, journal)
	if warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	return r, nil
}
