package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/recorded"
)

func newHandoffCommand(a *cli.App) *cobra.Command {
	var opts recorded.HandoffOptions
	cmd := &cobra.Command{
		Use:   "handoff",
		Short: "Write a handoff for the next session",
		Long: `Record where an interactive session stops: a handoff in the ledger of
LedgerSync, and an artifact below thoughts/shared/handoffs. On a terminal relay
asks for what is missing. An agent gives it as JSON, in this shape:

` + recorded.HandoffShape,
		Example: "  relay handoff --to codex\n  relay handoff --json - < handoff.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.LocateAnyhow(cmd.Context())
			if err != nil {
				return err
			}
			return recorded.Handoff(cmd.Context(), a, p, opts)
		},
	}
	cmd.Flags().StringVar(&opts.To, "to", "", "`AGENT` that goes on")
	cmd.Flags().StringVar(&opts.JSON, "json", "", "read what there is to say from `FILE`, - for stdin")
	return cmd
}
