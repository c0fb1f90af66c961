package command

import (
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/recorded"
)

func newLedgerRebuildCommand(a *cli.App) *cobra.Command {
	opts := recorded.Rebuilding{App: a}
	cmd := &cobra.Command{
		Use:   "rebuild [--only KIND] [--dry-run]",
		Short: "Rebuild records and report from the event log",
		Long: `Rebuild what follows from the event log: entries in .ledgersync, artifacts in
thoughts/shared/handoffs, discussions in .ledger/entries, and the report of the
newest run. relay adds missing records and restores changed ones, but only adds
to discussions; lines and files of others
stay as they are.`,
		Example: "  relay ledger rebuild --dry-run\n  relay ledger rebuild --only artifacts",
		RunE:    func(cmd *cobra.Command, _ []string) error { return recorded.Rebuild(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.Only, "only", "", "only this `KIND`: "+strings.Join(recorded.RebuildKinds(), ", "))
	f.BoolVar(&opts.DryRun, "dry-run", false, "only say what would be written")
	f.BoolVar(&opts.JSON, "json", false, "print JSON")
	return cmd
}
