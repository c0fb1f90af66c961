package command

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

type ledgerOptions struct {
	app    *cli.App
	repair bool
	json   bool
}

func newLedgerCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Check or repair the ledger and logs of the epic",
		Long: `Check or repair what is recorded of the epic: attempt-ledger.yml and the event
logs of all runs below runs/.`,
	}
	cmd.AddCommand(newLedgerValidateCommand(a), newLedgerRepairCommand(a), newLedgerAcceptCommand(a), newLedgerLogCommand(a),
		newLedgerRebuildCommand(a))
	return cmd
}

func newLedgerValidateCommand(a *cli.App) *cobra.Command {
	opts := ledgerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check ledger and logs for damage",
		Long:  "Check ledger and logs for damage. With --repair it does what relay ledger\nrepair does.",
		RunE:  func(cmd *cobra.Command, _ []string) error { return runLedgerValidate(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.repair, "repair", false, "repair what is damaged; a copy is kept")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func newLedgerRepairCommand(a *cli.App) *cobra.Command {
	opts := ledgerOptions{app: a, repair: true}
	cmd := &cobra.Command{
		Use:   "repair",
		Short: "Repair ledger and logs from what can still be read",
		Long: `Repair ledger and logs: relay rewrites them from everything that it can still
read, and keeps a copy of the old files.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runLedgerValidate(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func newLedgerAcceptCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "accept",
		Short: "Accept an edit of attempt-ledger.yml",
		Long:  "Accept what somebody changed in attempt-ledger.yml, and log it as an event.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLedgerAccept(cmd.Context(), ledgerOptions{app: a})
		},
	}
}

func newLedgerLogCommand(a *cli.App) *cobra.Command {
	opts := ledgerOptions{app: a}
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print every event, oldest first",
		RunE:  func(cmd *cobra.Command, _ []string) error { return runLedgerLog(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "one JSON object on each line")
	return cmd
}

// ledgerAnswer is what relay ledger validate --json prints.
type ledgerAnswer struct {
	OK     bool             `json:"ok"`
	Faults []attempts.Fault `json:"faults"`
	Copy   string           `json:"copy,omitempty"` // of what was there before the repair
}

func runLedgerValidate(ctx context.Context, opts ledgerOptions) error {
	p, pl, err := opts.app.Planned(ctx, nil)
	if err != nil {
		return err
	}
	faults, err := attempts.Validate(p.Dir, pl.Epic, pl.Graph)
	if err != nil {
		return err
	}
	answer := ledgerAnswer{OK: len(faults) == 0, Faults: append([]attempts.Fault{}, faults...)}
	if !answer.OK && opts.repair {
		repaired, err := attempts.Repair(p.Dir, pl.Epic, pl.Graph, opts.app.Now())
		if err != nil {
			return err
		}
		answer.OK, answer.Copy = true, p.Rel(p.File(repaired.Copy))
	}
	if opts.json {
		if err := opts.app.PrintJSON(answer); err != nil {
			return err
		}
	} else {
		printFaults(opts, faults, answer)
	}
	if !answer.OK {
		return terminal.ExitCode(terminal.Failure)
	}
	return nil
}

func printFaults(opts ledgerOptions, faults []attempts.Fault, answer ledgerAnswer) {
	for _, f := range faults {
		fmt.Fprintln(opts.app.Out, terminal.Message(f))
		if f.Hint != "" && answer.Copy == "" {
			fmt.Fprintf(opts.app.Out, "  %s\n", plaintext.Escape(f.Hint))
		}
	}
	switch {
	case len(faults) == 0:
		fmt.Fprintln(opts.app.Out, "ledger and logs are undamaged")
	case answer.Copy != "":
		fmt.Fprintf(opts.app.Out, "repaired; the old files are in %s\n", answer.Copy)
	default:
		fmt.Fprintf(opts.app.Out, "%s; relay ledger repair repairs what it can\n", plaintext.Count(len(faults), "fault"))
	}
}

func runLedgerAccept(ctx context.Context, opts ledgerOptions) error {
	p, pl, err := opts.app.Planned(ctx, nil)
	if err != nil {
		return err
	}
	view, err := attempts.Read(p.Dir, pl.Epic, pl.Graph)
	if err != nil {
		return err
	}
	if view.Edit == "" && view.Broken == nil {
		fmt.Fprintln(opts.app.Out, "attempt-ledger.yml is as relay wrote it: there is nothing to accept")
		return nil
	}
	if err := attempts.Accept(p.Dir, pl.Epic, pl.Graph, opts.app.Now()); err != nil {
		return err
	}
	fmt.Fprintf(opts.app.Out, "accepted:\n%s\n", strings.TrimRight(view.Edit, "\n"))
	tellEffect(opts, view)
	return nil
}

// tellEffect says what of an accepted edit has an effect, and what decides instead of the rest.
func tellEffect(opts ledgerOptions, view *attempts.View) {
	effect := "none: no task is other than before"
	if len(view.Effective) > 0 {
		effect = plaintext.Some(view.Effective, maxEffective)
	}
	fmt.Fprintf(opts.app.Out, "effect: %s\n", plaintext.Escape(effect))
	for _, what := range view.Ineffective {
		why := "only relay writes it"
		if name, ok := strings.CutPrefix(what, "settings."); ok {
			name, _, _ = strings.Cut(name, ":")
			why = "the configuration decides: relay." + name
		}
		fmt.Fprintf(opts.app.Out, "this has no effect: %s (%s)\n", plaintext.Escape(what), why)
	}
}

// maxEffective is how many tasks of an edit are named.
const maxEffective = 20

func runLedgerLog(ctx context.Context, opts ledgerOptions) error {
	p, err := opts.app.Locate(ctx, nil)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(opts.app.Out)
	return attempts.Replay(p.Dir, func(e attempts.Event) error {
		if opts.app.Out.Err != nil { // the reader is gone
			if err := opts.app.Out.Failure(); err != nil {
				return err
			}
			return terminal.ExitCode(terminal.OK)
		}
		if opts.json {
			return enc.Encode(e)
		}
		_, err := fmt.Fprintf(opts.app.Out, "%6d %s %s\n", e.Seq, e.At.UTC().Format(time.RFC3339), status.EventText(e))
		return err
	})
}
