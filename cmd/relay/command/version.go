package command

import (
	"fmt"
	"runtime"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"

	"github.com/spf13/cobra"
)

func newVersionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.Out, "relay %s %s/%s %s\n", project.RelayVersion(), runtime.GOOS, runtime.GOARCH, runtime.Version())
			return err
		},
	}
}
