package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/learn"
)

func newLearnCommand(a *cli.App) *cobra.Command {
	var opts learn.Options
	cmd := &cobra.Command{
		Use:   "learn",
		Short: "Show what agents learned, and propose it for AGENTS.md",
		Long: `Show what the agents of the epic have learned, with the tasks that say the same:
one is skip, two emerging, three recommend, four and more strong. What three and
more say is proposed as a patch of the nearest AGENTS.md: that of the deepest
folder that holds all files of these tasks, or of the repository. What a list
there has already is not proposed again. It writes nothing unless told to, and
never commits.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return learn.Run(cmd.Context(), a, opts) },
	}
	cmd.Flags().BoolVar(&opts.Apply, "apply", false, "write it into AGENTS.md")
	cmd.Flags().BoolVar(&opts.JSON, "json", false, "print JSON")
	return cmd
}
