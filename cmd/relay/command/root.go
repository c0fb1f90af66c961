package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
)

// Groups of commands in the help.
const (
	groupDaily   = cli.Daily
	groupRun     = "night"
	groupInspect = "look"
	groupDecide  = "decide"
	groupSetup   = "setup"
)

const rootLong = `relay runs AI agent CLIs over the tasks of a plan, unattended, and can prove in
the morning what it did.`

const rootExits = `Exit codes:
  0 all completed   1 error   2 usage
  3 finished with gated or blocked tasks; relay finish: not all are completed
  4 stopped by its deadline or budget
  10 invalid epic or configuration   11 already running   12 no usable runner
  130 interrupted   143 terminated
`

// newRootCommand puts the commands together.
func newRootCommand(a *cli.App) *cobra.Command {
	cobra.EnableCommandSorting = false // the order of the night, not of the alphabet
	root := &cobra.Command{
		Use:           "relay COMMAND",
		Long:          rootLong,
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.Colour(); err != nil {
				return err
			}
			return cli.RefuseGuarded(a, cmd)
		},
		SilenceUsage: true,
		Version:      project.RelayVersion(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return cli.UnknownCommand(cmd, args[0])
		},
	}
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetIn(a.In)
	root.SetVersionTemplate("relay {{.Version}}\n")
	addCommonFlags(root, a)
	root.AddGroup(
		&cobra.Group{ID: groupDaily, Title: "Every day:"},
		&cobra.Group{ID: groupRun, Title: "Run:"},
		&cobra.Group{ID: groupInspect, Title: "Inspect:"},
		&cobra.Group{ID: groupDecide, Title: "Decide:"},
		&cobra.Group{ID: groupSetup, Title: "Set up:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add(groupDaily, newInitCommand(a), newCheckCommand(a), newWorkCommand(a), newStatusCommand(a), newFinishCommand(a))
	add(groupRun, newPlanCommand(a), newScheduleCommand(a), newReloadCommand(a), newReportCommand(a), newCleanCommand(a), newHandoffCommand(a),
		newResumeCommand(a))
	add(groupRun, a.Further...)
	add(groupInspect, newWatchCommand(a), newShowCommand(a), newLogsCommand(a), newSessionsCommand(a), newGraphCommand(a),
		newServeCommand(a), newLedgerCommand(a))
	add(groupDecide, newGateCommand(a), newUngateCommand(a), newApproveCommand(a), newAnswerCommand(a), newRetryCommand(a),
		newStopCommand(a), newPauseCommand(a), newLearnCommand(a))
	add(groupSetup, newConfigCommand(a), newTrustCommand(a), newNotifyCommand(a), newCommandsCommand(a), newDemoCommand(a),
		newVersionCommand(a))
	add(groupInspect, newArtifactCommand(a), newDiscussCommand(a), newMCPCommand(a), newReplayCommand(a), newLedgersyncCommand(a))
	addEpicFlag(root, a)
	root.AddCommand(newGuardianCommand(a), newAgentCommand(a))
	root.SetUsageTemplate(cli.UsageTemplate)
	root.SetFlagErrorFunc(cli.FlagMistake)
	root.SuggestionsMinimumDistance = 2
	cli.AddHelpers(root, groupSetup)
	cli.AddCompletion(root, a)
	setHelp(root, a)
	return root
}

// setHelp has the root command's help list the commands of every day, and all with help --all.
func setHelp(root *cobra.Command, a *cli.App) {
	helpOf := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		all := cmd != root || cli.All(root)
		if !all {
			root.SetUsageTemplate(cli.ShortUsage)
			defer root.SetUsageTemplate(cli.UsageTemplate)
		}
		if helpOf(cmd, args); cmd == root && all {
			fmt.Fprintf(a.Out, "\n%s", rootExits)
		}
	})
}

// addCommonFlags adds the flags that every command has.
func addCommonFlags(root *cobra.Command, a *cli.App) {
	root.PersistentFlags().StringVarP(&a.Dir, "chdir", "C", "", "work as if started in `DIR`")
	choices := terminal.ColourChoices()
	root.PersistentFlags().StringVar(&a.When, "color", "auto", "print in colours `WHEN`: auto (default), always, never")
	root.PersistentFlags().Lookup("color").DefValue = "" // it is said
	_ = root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// addEpicFlag adds --epic to the commands that read or change an epic.
func addEpicFlag(root *cobra.Command, a *cli.App) {
	for _, c := range root.Commands() {
		switch c.Name() {
		case "check", "work", "schedule", "reload", "status", "watch", "report", "finish", "clean", "handoff", "resume", "show", "logs",
			"sessions", "graph", "ledger", "gate", "ungate", "approve", "answer", "retry", "stop", "pause", "learn", "replay", "serve",
			project.ServerCommand:
			c.PersistentFlags().StringVar(&a.Epic, "epic", "", "use the epic `ID` of a playlist")
		case "init":
			c.Flags().StringVar(&a.Epic, "epic", "", "with --append: use the epic `ID` of a playlist")
		}
	}
}

// optional returns the only argument of a command; "" if it was left out.
func optional(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
