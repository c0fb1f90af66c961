package command

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
)

func newNotifyCommand(a *cli.App) *cobra.Command {
	var test bool
	cmd := &cobra.Command{
		Use:   "notify --test [NAME]",
		Short: "Send a test to those who get notifications",
		Long: `Send a test notification to the receivers of relay.notify, or to NAME alone, and
say how each took it. relay reads them from your own files only:
$XDG_CONFIG_HOME/relay/agents.yml, and .agents.local.yml if git does not track
it.`,
		Example: "  relay notify --test phone",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !test {
				return &terminal.UsageError{Message: "relay notify only tests", Hint: "relay notify --test; relay config relay.notify lists the receivers"}
			}
			p, err := a.Locate(cmd.Context(), nil)
			if err != nil {
				return err
			}
			a.Warn(p.Config.Warnings...)
			return session.TestNotify(cmd.Context(), a, p, append(args, "")[0])
		},
	}
	cmd.Flags().BoolVar(&test, "test", false, "send the test")
	return cmd
}
