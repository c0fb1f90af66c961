package command

import (
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/schedule"
)

func newScheduleCommand(a *cli.App) *cobra.Command {
	o := schedule.Options{App: a}
	cmd := &cobra.Command{
		Use:   "schedule --at TIME --until TIME [-- FLAG…]",
		Short: "Begin relay work every night",
		Long: `Have systemd, launchd or cron begin relay work every day at a time. relay first
tries relay check and a dry run in the environment of the night, then shows all
that it would write, and writes it when you agree. A machine that sleeps at that
time begins late, but only before the end.

The night gets the settings of your shell without secrets: these it reads from
night.env beside your agents.yml, which only you may read. FLAGs are those of
relay work. Each epic and playlist has a night of its own.`,
		Example: `  relay schedule --at 22:00 --until 07:00
  relay schedule --at 22:00 --until 07:00 -- --jobs 4 --runner claude,codex`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Work = args
			return schedule.Run(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.At, "at", "", "begin at `TIME`, such as 22:00")
	f.StringVar(&o.Until, "until", "", "end at `TIME`, such as 07:00")
	f.StringVar(&o.Form, "form", "", "`FORM` of the timer: "+strings.Join(schedule.Forms, ", "))
	f.StringVar(&o.EnvFile, "env-file", "", "read NAME=value lines from `FILE` when the night begins")
	f.StringVar(&o.Playlist, "playlist", "", "run the epics of `FILE`")
	f.StringVar(&o.Remove, "remove", "", "remove the night `NAME`")
	f.BoolVar(&o.List, "list", false, "list the nights")
	f.BoolVar(&o.Yes, "yes", false, "write without asking")
	return cmd
}
