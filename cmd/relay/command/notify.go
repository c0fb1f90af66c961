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
say how each took it. docs/notifications.md has recipes.`,
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
			return session.TestNotify(cmd.Context(), a, p, optional(args))
		},
	}
	cmd.Flags().BoolVar(&test, "test", false, "send the test")
	return cmd
}
