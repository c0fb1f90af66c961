package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/landing"
	"relay/cmd/relay/internal/terminal"
)

func newCleanCommand(a *cli.App) *cobra.Command {
	o := landing.Clean{App: a}
	var all, old bool
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove worktrees and branches left by ended runs",
		Long: `List what ended runs have left, and remove it after confirmation: worktrees,
branches of tasks that have landed or whose work is kept elsewhere, copies of
.git, and worktrees of a killed relay plan, relay init --planner or relay
sessions fork. relay keeps files that exist nowhere else, and says how to look
at them. The ledger, the logs and the work stay: the branch relay/EPIC (git
branch -D removes it) and the work of failed attempts below refs/relay/EPIC
(git for-each-ref lists it, git update-ref -d removes it).

With --all it lists the worktrees of every repository with their sizes, and
removes those of repositories that no longer exist.

With --sessions it removes the transcripts of old runs and their rows in the
agents ledger. The epic's ledger, receipts, checks, reviews and patches stay.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case all:
				return o.All()
			case old:
				return o.Sessions(cmd.Context())
			case cmd.Flags().Changed("older-than"):
				return &terminal.UsageError{Message: "--older-than goes with --sessions"}
			}
			return o.Remains(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
	f.BoolVar(&o.DryRun, "dry-run", false, "list what would be removed, and remove nothing")
	f.BoolVar(&all, "all", false, "list the worktrees of all repositories, and remove those whose repository is gone")
	f.BoolVar(&old, "sessions", false, "remove what agents printed in old runs instead")
	f.StringVar(&o.OlderThan, "older-than", "30d", "with --sessions: of runs that began at least this `AGE` ago, such as 12h, 30d or 8w")
	f.BoolVar(&o.JSON, "json", false, "print JSON; needs --yes or --dry-run")
	cmd.MarkFlagsMutuallyExclusive("all", "sessions")
	return cmd
}
