package command

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

type reportOptions struct {
	app    *cli.App
	run    string
	format string
	output string
}

func newReportCommand(a *cli.App) *cobra.Command {
	opts := reportOptions{app: a}
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Report on a run: what happened, what needs you, cost",
		Long: `Report on a night: how it ended, what needs you and what to type, what was done
and changed, and its cost. On a terminal it is text; piped it is markdown, with
the attempts, checks, verdicts, proofs and deferred findings of every task; a
page in one file with -o FILE.html. It works during a run.

relay work writes report.md and report.json to runs/RUN at its end. For an older
run it shows that run's attempts, and the tasks as they are now.`,
		Example: `  relay report | less
  relay report -o night.html
  relay report --format json | jq .needs_you`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runReport(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.run, "run", "", "report on the night that ended with `RUN` (default: the last one)")
	f.StringVar(&opts.format, "format", "", "write it as `FORM`: "+strings.Join(runview.Formats, ", ")+" (default: as FILE ends, text on a terminal, else markdown)")
	f.StringVarP(&opts.output, "output", "o", "", "write it to `FILE`")
	return withSchema(cmd, "print the JSON Schema of --format json", func() error { return a.PrintJSON(report.Schema()) })
}

func runReport(ctx context.Context, opts reportOptions) error {
	a := opts.app
	opts.format = runview.Format(opts.format, opts.output, a.Out.Dest)
	if !slices.Contains(runview.Formats, opts.format) {
		return &terminal.UsageError{
			Message: "there is no format " + terminal.Quote(opts.format), Hint: "use " + strings.Join(runview.Formats, ", "),
		}
	}
	source, err := opts.source(ctx)
	if err != nil {
		return err
	}
	if opts.output == "" {
		return source.Write(a.Out, opts.format)
	}
	return runview.ReplaceReport(a, a.Path(opts.output), 0o644, func(w io.Writer) error { return source.Write(w, opts.format) })
}

// source reads what the report is made from.
func (o *reportOptions) source(ctx context.Context) (*runview.Source, error) {
	a := o.app
	p, err := a.LocateAnyhow(ctx)
	if err != nil {
		return nil, err
	}
	pl, v, warning, err := p.Read(ctx)
	if err != nil {
		return nil, err
	}
	if o.run == v.Ledger.Folded.Run {
		o.run = "" // it may still be on
	} else if o.run != "" {
		pl = project.RunPlan(p, o.run, pl)
	}
	b, err := status.Builder(p, pl, v, o.run)
	if err != nil {
		return nil, err
	}
	if !b.Journal().HasRun() {
		return nil, noRun(o.run, each.Of(b.Journal().Runs(), func(r view.OneRun) string { return r.ID }))
	}
	return &runview.Source{App: a, Project: p, Plan: pl, View: v, Builder: b, Warning: warning}, nil
}

// noRun says that there is no such run, and which there are.
func noRun(run string, listed []string) error {
	newest := slices.Clone(listed)
	slices.Reverse(newest)
	hint := "there has been none yet: relay work starts one"
	if len(newest) > 0 {
		hint = "the runs are, newest first: " + plaintext.Some(newest, 10)
	}
	return &terminal.UsageError{Message: "there is no run " + terminal.Quote(run) + " of this epic", Hint: hint}
}

func newLearnCommand(a *cli.App) *cobra.Command {
	return printing(&cobra.Command{
		Use:   "learn",
		Short: "Show what agents learned, and propose it for AGENTS.md",
		Long: `Show what the agents of the epic have learned, with the tasks that say the same:
one is skip, two emerging, three recommend, four and more strong. relay proposes
learnings of three and more tasks as a patch of the nearest AGENTS.md: that of
the deepest folder that holds all files of these tasks, or of the repository. It
omits entries that a list there already has. relay learn | git apply applies the
patch.`,
	}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		return runview.Learn(cmd.Context(), a, asJSON)
	})
}
