package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/watch"
)

func newWatchCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "watch [RUN]",
		Short: "Show the night full screen",
		Long: `Show the night full screen: what needs you, who works at what, what waits and
what is done, with each task's attempts, checks, changes and log, the graph and
the timeline. It follows a run and shows ended ones. The last line has the keys
that act on the selected task; ? explains all. Leaving it leaves the run.

RUN is the id of an earlier run (default: the newest).`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return watch.Run(cmd.Context(), a, optional(args), (&cli.Inner{App: a, Dir: a.Dir, Epic: a.Epic, Relay: relay}).Run)
		},
	}
}
