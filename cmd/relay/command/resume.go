package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/recorded"
)

func newResumeCommand(a *cli.App) *cobra.Command {
	var opts recorded.ResumeOptions
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Show and acknowledge the last handoff",
		Long: `Print what an interactive session has to know that goes on: the state of git,
the epic and its open work, the project's documents, the last handoff, and what
to do next. A transition in the ledger of LedgerSync answers the handoff, once.

To continue a run, type relay work.`,
		Example: "  relay resume --agent claude-code\n  relay resume --dry-run",
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.LocateAnyhow(cmd.Context())
			if err != nil {
				return err
			}
			return recorded.Resume(cmd.Context(), a, p, opts)
		},
	}
	cmd.Flags().StringVar(&opts.Agent, "agent", "", "`NAME` of who goes on; human by default")
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "write nothing")
	return cmd
}
