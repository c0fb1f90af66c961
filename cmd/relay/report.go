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
		return &usageError{message: "there is no format " + quote(opts.format), hint: "use " + strings.Join(reportFormats, ", ")}
	}
	p, err := a.locateAnyhow(ctx)
	if err != nil {
		return err
	}
	pl, view, warning, err := p.read(ctx)
	if err != nil {
		return err
	}
	journal, err := p.journal(opts.run)
	if err != nil {
		return err
	}
	if !journal.Knows() {
		return noRun(opts.run, journal.Runs())
	}
	if opts.run != "" && opts.run != view.Ledger.Folded.Run {
		pl = p.planOf(opts.run, pl)
	}
	r := p.report(a, pl, view, journal)
	if warning != "" {
		r.Warnings = append(r.Warnings, warning)
	}
	if opts.output == "" {
		return writeReport(a.out, r, opts.format)
	}
	return a.replaceReport(a.path(opts.output), 0o644, r, opts.format)
}

// journal reads from the logs what is told of the night that ended with a run, or of the newest.
func (p *place) journal(run string) (*report.Journal, error) {
	journal := report.NewJournal(run)
	err := attempts.Replay(p.dir, func(e attempts.Event) error {
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
	return &usageError{message: "there is no run " + quote(run) + " of this epic", hint: hint}
}

// report makes the report of a night.
func (p *place) report(a *app, pl *plan, view *attempts.View, journal *report.Journal) *report.Report {
	warnings := slices.Concat(p.damage, view.Warnings)
	if view.Edit != "" {
		warnings = append(warnings, "attempt-ledger.yml was edited by someone else: relay ledger accept")
	}
	return report.Make(report.Input{
		Epic: pl.epic, Graph: pl.graph, Ledger: view.Ledger, Journal: journal, Running: view.Running,
		MaxAttempts: p.config.Relay.MaxAttemptsPerTask, Budget: p.budget(), Warnings: warnings, Now: a.now(), Redact: p.secrets(a).Text,
		Refused: reported(p.refusing(pl, view.Ledger)),
	})
}

// planOf is the plan that an older run went by, as far as it is still known.
func (p *place) planOf(run string, pl *plan) *plan {
	kept, err := parsePlan(p.shown(p.keptFile(run)), p.keptSource(run))
	if err != nil || kept.epic.ID != pl.epic.ID {
		return pl
	}
	return kept
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
	return replaceWith(path, mode, func(w io.Writer) error {
		out := newScrubber(w)
		out.blank = a.secrets.Values
		return errors.Join(writeReport(out, r, format), out.failure())
	})
}

// keepReport leaves the report of a run that is over beside its log. It is made from that, and nothing is decided by it: when
// it cannot be written, that is told and no more.
func (n *shift) keepReport(run string, view *attempts.View) {
	a := n.o.app
	journal, err := n.place.journal(run)
	if err == nil && !journal.Knows() { // it came to its end before it began
		return
	}
	r := n.place.report(a, n.plan, view, journal)
	for _, format := range []string{"md", "json"} {
		if err == nil {
			err = a.replaceReport(n.place.file(attempts.RunsDir, run, "report."+format), 0o600, r, format)
		}
	}
	if err != nil {
		fmt.Fprintf(a.err, "relay: warning: there is no report of this run: %v; relay report makes one\n", err)
	}
}
