package recorded

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/runview"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/records"
)

// Rebuilding says what relay ledger rebuild writes again.
type Rebuilding struct {
	App    *cli.App
	Only   string // one of RebuildKinds; "": all that the configuration has on
	DryRun bool
	JSON   bool
}

// RebuildKinds returns what relay ledger rebuild writes: kinds of records, and the report.
func RebuildKinds() []string { return []string{"ledgersync", "artifacts", "discussions", kindReport} }

const kindReport = "report"

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

// Rebuild writes the records of an epic again that are missing, artifacts that were changed, and the report of its newest run. It prints
// what it did.
func Rebuild(ctx context.Context, opts Rebuilding) (err error) {
	if opts.Only != "" && !slices.Contains(RebuildKinds(), opts.Only) {
		return &terminal.UsageError{
			Message: "there are no records of the kind " + terminal.Quote(opts.Only), Hint: "use " + strings.Join(RebuildKinds(), ", "),
		}
	}
	p, pl, err := opts.App.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	if !opts.DryRun {
		var store *attempts.Store // no run may write them meanwhile
		o := p.Memory(pl)
		store, err = attempts.Open(o)
		if _, damaged := errors.AsType[*attempts.DamageError](err); damaged {
			o.Accept = true // the records say what the events say, whatever proves these
			store, err = attempts.Open(o)
		}
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	answer := rebuilt{DryRun: opts.DryRun}
	o := project.RecordOptions(p, pl)
	for i, on := range kinds(&o) { // the one that was asked for, or all that the configuration has on
		*on = opts.Only == RebuildKinds()[i] || opts.Only == "" && *on
	}
	if answer.Rebuilt, err = records.Rebuild(records.Rebuilding{KeeperOptions: o, DryRun: opts.DryRun}); err != nil {
		return err
	}
	if opts.Only == kindReport || opts.Only == "" {
		if answer.Report, err = rebuildReport(opts, p, pl); err != nil {
			return err
		}
	}
	if opts.JSON {
		return opts.App.PrintJSON(answer)
	}
	answer.print(opts, o)
	return opts.App.Out.Failure()
}

// rebuildReport rewrites the report of the newest run, and returns where it is; "" when there was no run.
func rebuildReport(opts Rebuilding, p *project.Project, pl *project.Plan) (string, error) {
	view, err := p.View(pl)
	if err != nil || view.Ledger.Run == "" {
		return "", err
	}
	if !opts.DryRun {
		runview.KeepReport(opts.App, p, pl, view, view.Ledger.Run)
	}
	return p.Rel(p.File("runs", view.Ledger.Run, "report.md")), nil
}

func (r *rebuilt) print(opts Rebuilding, o records.KeeperOptions) {
	added, changed, written := "added", "put back", "rebuilt"
	if r.DryRun {
		added, changed, written = "would be added", "would be put back", "would be rebuilt"
	}
	places := []string{".ledgersync/ledger.jsonl", "thoughts/shared/handoffs", ".ledger/entries"}
	for i, c := range []records.Counts{r.LedgerSync, r.Artifacts, r.Discussions} {
		if *kinds(&o)[i] {
			fmt.Fprintf(opts.App.Out, "%s: %s, %d %s, %d %s\n", places[i], plaintext.Count(c.Records, "record"), c.Missing, added, c.Changed,
				changed)
		}
	}
	if r.Report != "" {
		fmt.Fprintf(opts.App.Out, "%s: %s\n", r.Report, written)
	}
}
