package command

import (
	"context"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
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
		RunE: located(a.LocateAnyhow, func(ctx context.Context, p *project.Project, _ []string) error {
			return recorded.Handoff(ctx, a, p, opts)
		}),
	}
	cmd.Flags().StringVar(&opts.To, "to", "", "`AGENT` that goes on")
	cmd.Flags().StringVar(&opts.JSON, "json", "", "read what there is to say from `FILE`, - for stdin")
	return cmd
}

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
		RunE: located(a.LocateAnyhow, func(ctx context.Context, p *project.Project, _ []string) error {
			return recorded.Resume(ctx, a, p, opts)
		}),
	}
	cmd.Flags().StringVar(&opts.Agent, "agent", "", "`NAME` of who goes on; human by default")
	cmd.Flags().BoolVar(&opts.DryRun, "dry-run", false, "write nothing")
	return cmd
}
