package main

import (
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
)

func newSessionsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Read what was said between relay and its agents",
		Long: `Read every conversation with an agent: agents-ledger.db, in relay's folder, has
them message by message and tool call by tool call.`,
	}
	cmd.AddCommand(newSessionsImportCommand(a))
	return cmd
}
