package command

import (
	"time"

	"github.com/spf13/cobra"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
)

func newSessionsCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "Read the conversations of agents",
		Long: `Read every conversation with an agent: agents-ledger.db, in relay's folder, has
them message by message and tool call by tool call. An id may be shortened while
no other begins so.`,
	}
	cmd.AddCommand(newSessionsListCommand(a), newSessionsShowCommand(a), newSessionsTurnsCommand(a), newSessionsToolsCommand(a),
		newSessionsSearchCommand(a), newSessionsSQLCommand(a), newSessionsImportCommand(a), newSessionsForkCommand(a))
	return cmd
}

// viewing makes a command show something of the agents ledger, as text or as JSON.
func viewing(a *cli.App, cmd *cobra.Command, show func(cmd *cobra.Command, args []string, v *agentlog.SessionView) error) *cobra.Command {
	return printing(cmd, func(cmd *cobra.Command, args []string, asJSON bool) error {
		p, err := a.LocateAnyhow(cmd.Context())
		if err != nil {
			return err
		}
		return agentlog.WithSessions(cmd.Context(), a, p, func(ledger *sessions.Reader) error {
			return show(cmd, args, &agentlog.SessionView{App: a, Ledger: ledger, JSON: asJSON})
		})
	})
}

func newSessionsListCommand(a *cli.App) *cobra.Command {
	var f sessions.Filter
	cmd := viewing(a, &cobra.Command{
		Use:     "list",
		Short:   "List sessions, oldest first",
		Example: "  relay sessions list --task T5 --runner codex",
		Args:    cobra.NoArgs,
	}, func(cmd *cobra.Command, _ []string, v *agentlog.SessionView) error { return v.List(cmd.Context(), f) })
	cmd.Flags().StringVar(&f.Task, "task", "", "only those about the task `ID`")
	cmd.Flags().StringVar(&f.Runner, "runner", "", "only those of the agent `NAME`")
	cmd.Flags().StringVar(&f.Run, "run", "", "only those of the run `ID`")
	return cmd
}

func newSessionsShowCommand(a *cli.App) *cobra.Command {
	var o agentlog.ShowOptions
	cmd := viewing(a, &cobra.Command{
		Use:   "show SESSION",
		Short: "Print a conversation",
		Long: `Print a conversation in order, with its tool calls and its subagents at their
place. --events prints only what was said. Secrets are taken out and long texts
are cut; --raw into a file or pipe changes nothing.`,
		Example: `  relay sessions show 4f0c
  relay sessions show 4f0c --turn 2 --raw | less
  relay sessions show 4f0c --events`,
		Args: cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string, v *agentlog.SessionView) error {
		if o.Turn < 0 {
			return &terminal.UsageError{Message: "turns are counted from 1", Hint: "relay sessions turns " + args[0] + " lists them"}
		}
		o.Session = args[0]
		return v.Show(cmd.Context(), o)
	})
	f := cmd.Flags()
	f.IntVar(&o.Turn, "turn", 0, "only turn `N`, counted from 1")
	f.BoolVar(&o.Events, "events", false, "print what was said, without tool calls")
	f.BoolVar(&o.Raw, "raw", false, "print whole texts; into a file or pipe with secrets")
	cmd.MarkFlagsMutuallyExclusive("raw", "json")
	return cmd
}

func newSessionsTurnsCommand(a *cli.App) *cobra.Command {
	return viewing(a, &cobra.Command{
		Use:   "turns SESSION",
		Short: "List the turns of a session",
		Args:  cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string, v *agentlog.SessionView) error {
		return v.Turns(cmd.Context(), args[0])
	})
}

func newSessionsToolsCommand(a *cli.App) *cobra.Command {
	return viewing(a, &cobra.Command{
		Use:   "tools [SESSION]",
		Short: "Count tool calls and their results",
		Args:  cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string, v *agentlog.SessionView) error {
		return v.Tools(cmd.Context(), optional(args))
	})
}

func newSessionsSearchCommand(a *cli.App) *cobra.Command {
	var most int
	cmd := viewing(a, &cobra.Command{
		Use:   "search WORD...",
		Short: "Search messages and tool results",
		Long: `Search messages and tool results that have all words, the newest first. Parts of
words match too; words in quotes belong together.`,
		Example: `  relay sessions search rate limit
  relay sessions search "connection refused" retr`,
		Args: cobra.MinimumNArgs(1),
	}, func(cmd *cobra.Command, args []string, v *agentlog.SessionView) error {
		if most < 1 {
			return &terminal.UsageError{Message: "--last is at least 1", Hint: "relay sessions search --last 100 WORD"}
		}
		return v.Search(cmd.Context(), args, most)
	})
	cmd.Flags().IntVar(&most, "last", 20, "print the last `N` of them")
	return cmd
}

func newSessionsSQLCommand(a *cli.App) *cobra.Command {
	var limits sessions.Limits
	cmd := viewing(a, &cobra.Command{
		Use:   "sql QUERY",
		Short: "Query the agents ledger with SQL",
		Long: `Run one SQL query on agent_sessions, agent_messages, agent_turns and
agent_tool_calls, and print its rows, the values separated by tabs. A statement
that would change anything is refused.`,
		Example: `  relay sessions sql "SELECT role, count(*) FROM agent_messages GROUP BY role"`,
		Args:    cobra.ExactArgs(1),
	}, func(cmd *cobra.Command, args []string, v *agentlog.SessionView) error {
		return v.SQL(cmd.Context(), args[0], limits)
	})
	cmd.Flags().IntVar(&limits.Rows, "rows", 1000, "print at most `N` rows")
	cmd.Flags().DurationVar(&limits.Time, "time", 10*time.Second, "stop after a `DURATION`, such as 30s")
	return cmd
}
