package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/report"
)

var reportFormats = []string{"md", "html", "json"}

type reportOptions struct {
	app    *app
	run    string
	format string
	output string
	schema bool
}

func newReportCommand(a *app) *cobra.Command {
	opts := reportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Tell a whole night: what happened, what needs you, what it cost",
		Long: `Tell a whole night: how it ended, what needs you and what to type, and of every
task that was touched its attempts, checks, verdicts, how each criterion is
proved, what was put off, and what it cost. It writes nothing but what -o names,
and works during a run.

relay work leaves the same as report.md and report.json in runs/RUN at its end.
That of an older run tells its attempts, and how the tasks stand now.`,
		Example: `  relay report | less
  relay report --format html -o night.html
  relay report --format json | jq .needs_you`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runReport(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.run, "run", "", "the night that ended with `RUN` (default: the last one)")
	f.StringVar(&opts.format, "format", "md", "write it as `FORM`: "+strings.Join(reportFormats, ", "))
	f.StringVarP(&opts.output, "output", "o", "", "write it to `FILE`")
	f.BoolVar(&opts.schema, "schema", false, "print the JSON Schema of --format json")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(reportFormats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func runReport(ctx context.Context, opts reportOptions) error {
	a := opts.app
	if opts.schema {
		return a.printJSON(report.Schema())
	}
	if !slices.Contains(reportFormats, opts.format) {
		return &exit.UsageError{Message: "there is no format " + terminal.Quote(opts.format), Hint: "use " + strings.Join(reportFormats, ", ")}
	}
	p, err := a.locateAnyhow(ctx)
	if err != nil {
		return err
	}
	pl, view, warning, err := p.Read(ctx)
	if err != nil {
		return err
	}
	journal, err := readJournal(p, opts.run)
	if err != nil {
		return err
	}
	if !journal.Knows() {
		return noRun(opts.run, journal.Runs())
	}
	if opts.run != "" && opts.run != view.Ledger.Folded.Run {
		pl = p.RunPlan(opts.run, pl)
	}
	r := makeReport(p, a, pl, view, journal)
	if warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	if opts.output == "" {
		return writeReport(a.out, r, opts.format)
	}
	return a.replaceReport(a.path(opts.output), 0o644, r, opts.format)
}

// readJournal reads from the logs what is told of the night that ended with a run, or of the newest.
func readJournal(p *project.Project, run string) (*report.Journal, error) {
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

// noRun says that there is no such run, and which there are.
func noRun(run string, known []string) error {
	newest := slices.Clone(known)
	slices.Reverse(newest)
	hint := "there was none yet: relay work begins one"
	if len(newest) > 0 {
		hint = "the runs are, newest first: " + some(newest, 10)
	}
	return &exit.UsageError{Message: "there is no run " + terminal.Quote(run) + " of this epic", Hint: hint}
}

// makeReport makes the report of a night.
func makeReport(p *project.Project, a *app, pl *project.Plan, view *attempts.View, journal *report.Journal) *report.Report {
	warnings := slices.Concat(p.Damage, view.Warnings)
	if view.Edit != "" {
		warnings = append(warnings, "attempt-ledger.yml was edited by someone else: relay ledger accept")
	}
	return report.Make(report.Input{
		Epic: pl.Epic, Graph: pl.Graph, Ledger: view.Ledger, Journal: journal, Running: view.Running,
		MaxAttempts: p.Config.Relay.MaxAttemptsPerTask, Budget: p.Budget(), Warnings: warnings, Now: a.now(), Redact: p.Redactor().Text,
		Refused: status.ForReport(status.Refusing(p, pl, view.Ledger)),
	})
}

// writeReport writes a report in one of its forms.
func writeReport(w io.Writer, r *report.Report, format string) error {
	switch format {
	case "json":
		return r.JSON(w)
	case "html":
		return r.HTML(w, time.Local)
	}
	return r.Markdown(w, time.Local)
}

// replaceReport puts a report into a file, as harmless as on a terminal.
func (a *app) replaceReport(path string, mode fs.FileMode, r *report.Report, format string) error {
	return project.ReplaceWith(path, mode, func(w io.Writer) error {
		out := terminal.NewWriter(w)
		out.Redact = a.secrets.Values
		return errors.Join(writeReport(out, r, format), out.Failure())
	})
}

// keepReport leaves the report of a run that is over beside its log. It is made from that, and nothing is decided by it: when
// it cannot be written, that is told and no more.
func (n *session) keepReport(run string, view *attempts.View) {
	a := n.o.app
	journal, err := readJournal(n.project, run)
	if err == nil && !journal.Knows() { // it came to its end before it began
		return
	}
	r := makeReport(n.project, a, n.plan, view, journal)
	for _, format := range []string{"md", "json"} {
		if err == nil {
			err = a.replaceReport(n.project.File(attempts.RunsDir, run, "report."+format), 0o600, r, format)
		}
	}
	if err != nil {
		fmt.Fprintf(a.err, "relay: warning: there is no report of this run: %v; relay report makes one\n", err)
	}
}
