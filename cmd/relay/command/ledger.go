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
	"relay/cmd/relay/internal/recorded"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
)

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
	return printing(&cobra.Command{
		Use:   "validate",
		Short: "Check ledger and logs for damage",
	}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		return runLedgerValidate(cmd.Context(), a, false, asJSON)
	})
}

func newLedgerRepairCommand(a *cli.App) *cobra.Command {
	return printing(&cobra.Command{
		Use:   "repair",
		Short: "Repair ledger and logs from what can still be read",
		Long: `Repair ledger and logs: relay rewrites them from everything that it can still
read, and keeps a copy of the old files.`,
	}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		return runLedgerValidate(cmd.Context(), a, true, asJSON)
	})
}

func newLedgerAcceptCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "accept",
		Short: "Accept edits of attempt-ledger.yml and of the event logs",
		Long:  "Accept what somebody changed in attempt-ledger.yml, and log it as an event.\nAccept lines of the event logs that their links do not prove.",
		RunE:  func(cmd *cobra.Command, _ []string) error { return runLedgerAccept(cmd.Context(), a) },
	}
}

func newLedgerLogCommand(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Print every event, oldest first",
		RunE:  func(cmd *cobra.Command, _ []string) error { return runLedgerLog(cmd.Context(), a, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object on each line")
	return cmd
}

// ledgerAnswer is what relay ledger validate --json prints.
type ledgerAnswer struct {
	OK     bool             `json:"ok"`
	Faults []attempts.Fault `json:"faults"`
	Copy   string           `json:"copy,omitempty"` // of what was there before the repair
}

func runLedgerValidate(ctx context.Context, a *cli.App, repair, asJSON bool) error {
	p, pl, err := a.Planned(ctx, nil)
	if err != nil {
		return err
	}
	faults, err := attempts.Validate(p.Memory(pl))
	if err != nil {
		return err
	}
	answer := ledgerAnswer{OK: len(faults) == 0, Faults: append([]attempts.Fault{}, faults...)}
	if !answer.OK && repair {
		repaired, err := attempts.Repair(p.Memory(pl))
		if err != nil {
			return err
		}
		answer.OK, answer.Copy = true, p.Rel(p.File(repaired.Copy))
	}
	return cli.PrintJudged(a, answer.OK, asJSON, answer, answer.lines()...)
}

func (r *ledgerAnswer) lines() (lines []string) {
	for _, f := range r.Faults {
		lines = append(lines, terminal.Message(f))
		if f.Hint != "" && r.Copy == "" {
			lines = append(lines, "  "+plaintext.Escape(f.Hint))
		}
	}
	switch {
	case len(r.Faults) == 0:
		return []string{"ledger and logs are undamaged"}
	case r.Copy != "":
		return append(lines, "repaired; the old files are in "+r.Copy)
	}
	return append(lines, plaintext.Count(len(r.Faults), "fault")+"; relay ledger repair repairs what it can")
}

func runLedgerAccept(ctx context.Context, a *cli.App) error {
	p, pl, err := a.Planned(ctx, nil)
	if err != nil {
		return err
	}
	view, err := attempts.See(p.Memory(pl))
	if err != nil {
		return err
	}
	if view.Edit == "" && len(view.Warnings) == 0 {
		fmt.Fprintln(a.Out, "attempt-ledger.yml is as relay wrote it: there is nothing to accept")
		return nil
	}
	if err := attempts.Accept(p.Memory(pl)); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, strings.TrimSpace("accepted:\n"+strings.Join(append(view.Warnings, view.Edit), "\n")))
	tellEffect(a, view)
	return nil
}

// tellEffect says what of an accepted edit has an effect, and what decides instead of the rest.
func tellEffect(a *cli.App, view *attempts.View) {
	effect := "none: no task is other than before"
	if len(view.Effective) > 0 {
		effect = plaintext.Some(view.Effective, maxEffective)
	}
	fmt.Fprintf(a.Out, "effect: %s\n", plaintext.Escape(effect))
	for _, what := range view.Ineffective {
		why := "only relay writes it"
		if name, ok := strings.CutPrefix(what, "settings."); ok {
			name, _, _ = strings.Cut(name, ":")
			why = "the configuration decides: relay." + name
		}
		fmt.Fprintf(a.Out, "this has no effect: %s (%s)\n", plaintext.Escape(what), why)
	}
}

// maxEffective is how many tasks of an edit are named.
const maxEffective = 20

func runLedgerLog(ctx context.Context, a *cli.App, asJSON bool) error {
	p, err := a.Locate(ctx, nil)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(a.Out)
	return attempts.Replay(p.Dir, func(e attempts.Event) error {
		if a.Out.Err != nil { // the reader is gone
			if err := a.Out.Failure(); err != nil {
				return err
			}
			return terminal.ExitCode(terminal.OK)
		}
		if asJSON {
			return enc.Encode(e)
		}
		_, err := fmt.Fprintf(a.Out, "%6d %s %s\n", e.Seq, e.At.UTC().Format(time.RFC3339), status.EventText(e))
		return err
	})
}

func newLedgerRebuildCommand(a *cli.App) *cobra.Command {
	opts := recorded.Rebuilding{App: a}
	cmd := &cobra.Command{
		Use:   "rebuild [--only KIND] [--dry-run]",
		Short: "Rebuild records and report from the event log",
		Long: `Rebuild what follows from the event log: entries in .ledgersync, artifacts in
thoughts/shared/handoffs, discussions in .ledger/entries, and the report of the
newest run. relay adds missing records and restores changed ones, but only adds
to discussions; lines and files of others stay as they are.`,
		Example: "  relay ledger rebuild --dry-run\n  relay ledger rebuild --only artifacts",
		RunE:    func(cmd *cobra.Command, _ []string) error { return recorded.Rebuild(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.Only, "only", "", "only this `KIND`: "+strings.Join(recorded.RebuildKinds(), ", "))
	f.BoolVar(&opts.DryRun, "dry-run", false, "only say what would be written")
	f.BoolVar(&opts.JSON, "json", false, "print JSON")
	return cmd
}
