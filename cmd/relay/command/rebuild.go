package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/records"
)

type rebuildOptions struct {
	app    *cli.App
	only   string
	dryRun bool
	json   bool
}

// rebuildKinds are what relay ledger rebuild writes: kinds of records, and the report.
var rebuildKinds = []string{"ledgersync", "artifacts", "discussions", kindReport}

const kindReport = "report"

func newLedgerRebuildCommand(a *cli.App) *cobra.Command {
	opts := rebuildOptions{app: a}
	cmd := &cobra.Command{
		Use:   "rebuild [--only KIND] [--dry-run]",
		Short: "Rebuild records and report from the event log",
		Long: `Rebuild what follows from the event log: entries in .ledgersync, artifacts in
thoughts/shared/handoffs, discussions in .ledger/entries, and the report of the
newest run. relay adds missing records and restores changed ones, but only adds
to discussions; lines and files of others
stay as they are.`,
		Example: "  relay ledger rebuild --dry-run\n  relay ledger rebuild --only artifacts",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLedgerRebuild(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.only, "only", "", "only this `KIND`: "+strings.Join(rebuildKinds, ", "))
	f.BoolVar(&opts.dryRun, "dry-run", false, "only say what would be written")
	f.BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// rebuilt is what relay ledger rebuild --json prints.
type rebuilt struct {
	DryRun bool `json:"dry_run,omitempty"`
	records.Rebuilt
	Report string `json:"report,omitempty"` // file
}

// kinds are the settings of records, in the order of their names.
func kinds(r *records.KeeperOptions) []*bool {
	return []*bool{&r.LedgerSync, &r.Artifacts, &r.Discussions}
}

func runLedgerRebuild(ctx context.Context, opts rebuildOptions) (err error) {
	if opts.only != "" && !slices.Contains(rebuildKinds, opts.only) {
		return &terminal.UsageError{
			Message: "there are no records of the kind " + terminal.Quote(opts.only), Hint: "use " + strings.Join(rebuildKinds, ", "),
		}
	}
	p, pl, err := opts.app.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	if !opts.dryRun {
		var store *attempts.Store // no run may write them meanwhile
		if store, err = p.Open(pl); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	answer := rebuilt{DryRun: opts.dryRun}
	o := project.RecordOptions(p, pl)
	for i, on := range kinds(&o) { // the one that was asked for, or all that the configuration has on
		*on = opts.only == rebuildKinds[i] || opts.only == "" && *on
	}
	if answer.Rebuilt, err = records.Rebuild(records.Rebuilding{KeeperOptions: o, DryRun: opts.dryRun}); err != nil {
		return err
	}
	if opts.only == kindReport || opts.only == "" {
		if answer.Report, err = rebuildReport(opts, p, pl); err != nil {
			return err
		}
	}
	if opts.json {
		return opts.app.PrintJSON(answer)
	}
	answer.print(opts, o)
	return opts.app.Out.Failure()
}

// rebuildReport rewrites the report of the newest run, and returns where it is; "" when there was no run.
func rebuildReport(opts rebuildOptions, p *project.Project, pl *project.Plan) (string, error) {
	view, err := p.View(pl)
	if err != nil || view.Ledger.Run == "" {
		return "", err
	}
	if !opts.dryRun {
		runview.KeepReport(opts.app, p, pl, runview.Ended{Run: view.Ledger.Run, View: view})
	}
	return p.Rel(p.File("runs", view.Ledger.Run, "report.md")), nil
}

func (r *rebuilt) print(opts rebuildOptions, o records.KeeperOptions) {
	added, changed, written := "added", "put back", "written anew"
	if r.DryRun {
		added, changed, written = "would be added", "would be put back", "would be written anew"
	}
	places := []string{".ledgersync/ledger.jsonl", "thoughts/shared/handoffs", ".ledger/entries"}
	for i, c := range []records.Counts{r.LedgerSync, r.Artifacts, r.Discussions} {
		if *kinds(&o)[i] {
			fmt.Fprintf(opts.app.Out, "%s: %s, %d %s, %d %s\n", places[i], plaintext.Count(c.Records, "record"), c.Missing, added, c.Changed,
				changed)
		}
	}
	if r.Report != "" {
		fmt.Fprintf(opts.app.Out, "%s: %s\n", r.Report, written)
	}
}
