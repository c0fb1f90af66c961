package runview

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Formats are the forms of a report.
var Formats = []string{"md", "html", "json"}

// Journal reads from the logs what a report says of the session that ended with a run; "" is the newest.
func Journal(p *project.Project, run string) (*view.Journal, error) {
	journal := view.NewJournal(run)
	err := attempts.Replay(p.Dir, func(e attempts.Event) error {
		journal.Add(e)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // an epic that was written by hand has none yet
	}
	return journal, err
}

// MakeReport returns the report of a session.
func MakeReport(a *cli.App, p *project.Project, pl *project.Plan, view *attempts.View, journal *view.Journal) *report.Report {
	warnings := slices.Concat(status.NeverBegan(p, view.Ledger.Status.StartedAt), p.Damage, view.Warnings)
	if view.Edit != "" {
		warnings = append(warnings, "attempt-ledger.yml was edited by someone else: relay ledger accept")
	}
	return report.Make(report.Input{
		Epic: pl.Epic, Graph: pl.Graph, Ledger: view.Ledger, Journal: journal, Running: view.Running,
		MaxAttempts: p.Config.Relay.MaxAttemptsPerTask, Budget: project.Budget(p.Config), Warnings: warnings, Now: a.Now(), Redact: p.Redactor(),
		Flag: p.EpicFlag(), Refused: status.ForReport(status.Refusing(p, pl, view.Ledger)), Discussions: discussion.OpenIn(p.Root),
	})
}

// WriteReport writes a report in one of Formats.
func WriteReport(w io.Writer, r *report.Report, format string) error {
	switch format {
	case "json":
		return r.JSON(w)
	case "html":
		return r.HTML(w, time.Local)
	}
	return r.Markdown(w, time.Local)
}

// ReplaceReport writes a report into a file, as harmless as on a terminal.
func ReplaceReport(a *cli.App, path string, mode fs.FileMode, r *report.Report, format string) error {
	return project.ReplaceWith(path, mode, func(w io.Writer) error {
		out := terminal.NewWriter(w)
		out.Redact = a.Secrets.Values
		return errors.Join(WriteReport(out, r, format), out.Failure())
	})
}

// Ended is a run that is over, and the ledger as it is now.
type Ended struct {
	Run  string
	View *attempts.View
}

// KeepReport writes the report of a run that is over beside its log. Nothing is decided by it: a report that cannot be written is a
// warning.
func KeepReport(a *cli.App, p *project.Project, pl *project.Plan, ended Ended) {
	journal, err := Journal(p, ended.Run)
	if err == nil && !journal.HasRun() { // it came to its end before it began
		return
	}
	r := MakeReport(a, p, pl, ended.View, journal)
	for _, format := range []string{"md", "json"} {
		if err == nil {
			err = ReplaceReport(a, p.File(attempts.RunsDir, ended.Run, "report."+format), 0o600, r, format)
		}
	}
	if err != nil {
		fmt.Fprintf(a.Err, "relay: warning: there is no report of this run: %v; relay report makes one\n", err)
	}
}
