package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/landing"
)

func newFinishCommand(a *cli.App) *cobra.Command {
	o := landing.Finish{App: a}
	cmd := &cobra.Command{
		Use:   "finish",
		Short: "Land the work on the branch that the epic began from",
		Long: `Land relay/EPIC, where the completed tasks of the epic are, on the branch the
epic began from: by fast-forward, or as relay.landing says when that branch has
changed since. When that would overwrite uncommitted changes or the branches
conflict, nothing is changed, and relay says what to type. Nothing is pushed,
unless --pr is given: then relay/EPIC is pushed and a pull request opened
instead, with gh or glab when they are installed.

With --tick completed tasks are ticked in the plan of another tool that relay
init has read: [x] in a checklist, done in a state. Commit that as you like.

If that branch has changed since, or the last run was killed, relay first runs
the checks of the epic on the result, and lands nothing if one fails that
passes on the branch now, or if set-up fails. It also refuses commits that add
a secret.

When relay saw something in completed tasks that it cannot judge, relay finish
lists these tasks and asks; without a terminal it lands nothing (exit code 3),
unless --yes is given. relay approve TASK says that a task is right as it is.

Exit code 3 when tasks of the epic are not completed yet: what is completed has
been landed all the same. With --playlist the epics of a list are landed in
order, up to the first that is not completed (exit code 3).`,
		Example: `  relay finish --dry-run
  relay finish
  relay finish --pr`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context()) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.PR, "pr", false, "push the branch and open a pull request instead")
	f.StringVar(&o.Into, "into", "", "land on `BRANCH` instead")
	f.StringVar(&o.Playlist, "playlist", "", "land the completed epics of the list `FILE`, in order")
	f.BoolVar(&o.Tick, "tick", false, "tick completed tasks in the plan they come from")
	f.BoolVarP(&o.Yes, "yes", "y", false, "land tasks that need a look without asking")
	f.BoolVar(&o.NoChecks, "no-checks", false, "land without running the epic's checks on the result")
	f.BoolVar(&o.DryRun, "dry-run", false, "print what would be done, and do nothing")
	f.BoolVar(&o.JSON, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("tick", "pr")
	cmd.MarkFlagsMutuallyExclusive("tick", "playlist")
	return cmd
}
