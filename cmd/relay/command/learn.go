package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/runview"
)

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
