package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"relay/attempts/ledgersync"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/recorded"
)

func newLedgersyncCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ledgersync",
		Short: "Read and add entries that agents leave for each other",
		Long: `Read, check and add entries of .ledgersync/ledger.jsonl, in which agents and
people record what they did, why, and what the next agent has to know. It has
the format of the program ledgersync (npm metacog-ledgersync); both can write
it.`,
	}
	cmd.AddCommand(newLedgersyncLogCommand(a), newLedgersyncSummaryCommand(a), newLedgersyncValidateCommand(a), newLedgersyncAddCommand(a))
	return cmd
}

// finder finds a project, or only its place.
type finder func(context.Context) (*project.Project, error)

// located makes a command do something with the project that find finds.
func located(find finder, do func(ctx context.Context, p *project.Project, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := find(cmd.Context())
		if err != nil {
			return err
		}
		return do(cmd.Context(), p, args)
	}
}

// printing makes a command print something, as text or as JSON.
func printing(cmd *cobra.Command, do func(cmd *cobra.Command, args []string, asJSON bool) error) *cobra.Command {
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return do(cmd, args, asJSON) }
	return cmd
}

// showing makes a command print something of the repository around the user, as text or as JSON.
func showing(a *cli.App, cmd *cobra.Command, show func(a *cli.App, p *project.Project, asJSON bool) error) *cobra.Command {
	return printing(cmd, func(cmd *cobra.Command, args []string, asJSON bool) error {
		return located(a.Repository, func(_ context.Context, p *project.Project, _ []string) error { return show(a, p, asJSON) })(cmd, args)
	})
}

// withSchema adds the flag --schema to a command, with which it only prints a JSON Schema.
func withSchema(cmd *cobra.Command, usage string, write func() error) *cobra.Command {
	schema, run := cmd.Flags().Bool("schema", false, usage), cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *schema {
			return write()
		}
		return run(cmd, args)
	}
	return cmd
}

func newLedgersyncLogCommand(a *cli.App) *cobra.Command {
	var opts recorded.LogOptions
	cmd := &cobra.Command{
		Use:     "list",
		Aliases: []string{"log"},
		Short:   "Print entries, oldest first",
		Example: "  relay ledgersync list --last 20\n  relay ledgersync list --type handoff --last 1 --json",
		RunE:    located(a.Repository, func(_ context.Context, p *project.Project, _ []string) error { return recorded.ShowEntries(a, p, opts) }),
	}
	cmd.Flags().StringVar(&opts.Agent, "agent", "", "only those of the agent `NAME`")
	cmd.Flags().StringVar(&opts.Task, "task", "", "only those with the tag `ID`, as entries about a task have")
	cmd.Flags().StringVar(&opts.Type, "type", "", "only those of one `TYPE`: "+recorded.TypeNames())
	cmd.Flags().IntVar(&opts.Last, "last", 0, "only the last `N` of them")
	cmd.Flags().BoolVar(&opts.JSON, "json", false, "one JSON object on each line")
	return cmd
}

func newLedgersyncSummaryCommand(a *cli.App) *cobra.Command {
	return showing(a, &cobra.Command{Use: "summary", Short: "Count entries per author; show the open handoff"}, recorded.ShowSummary)
}

func newLedgersyncValidateCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Check every line of the ledger",
		Long: `Check every line of the ledger. relay warns of an entry without a type that
looks like one of a type. Exit code 1 when a line is not a valid entry.`,
	}
	return withSchema(showing(a, cmd, recorded.ValidateEntries), "print the JSON Schema of an entry, and check nothing", func() error {
		_, err := fmt.Fprintf(a.Out, "%s", ledgersync.Schema())
		return err
	})
}

func newLedgersyncAddCommand(a *cli.App) *cobra.Command {
	var opts recorded.AddOptions
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add an entry",
		Long: `Add an entry at the end of the ledger; the file is made if it is not there. Id,
time, and the place in the session are filled in. An entry of a type needs more
than flags can say: give it as JSON.`,
		Example: `  relay ledgersync add --summary "Moved login" --intent "Passwords go"
  relay ledgersync add --type handoff --json handoff.json`,
		RunE: located(a.Repository, func(_ context.Context, p *project.Project, _ []string) error { return recorded.AddEntry(a, p, opts) }),
	}
	f := cmd.Flags()
	f.StringVar(&opts.Summary, "summary", "", "`TEXT`: what was done; of more than 200 characters the rest becomes description")
	f.StringVar(&opts.Intent, "intent", "", "`TEXT`: why it was done")
	f.StringVar(&opts.Description, "description", "", "`TEXT`: more about it")
	f.StringVar(&opts.Type, "type", "", "`TYPE` of the entry: "+recorded.TypeNames())
	f.StringVar(&opts.Action, "action", "", "`KIND` of action: create, modify, delete, analyze, plan, debug, refactor or other; what fits the type by default")
	f.StringVar(&opts.Agent, "agent", "", "`NAME` of who did it; human by default")
	f.StringVar(&opts.Model, "model", "", "`NAME` of its model")
	f.StringVar(&opts.Session, "session", "", "`ID` of the session that it goes on; a new one by default")
	f.StringArrayVar(&opts.Tags, "tag", nil, "a `TAG`; may be given several times")
	f.StringArrayVar(&opts.Artifacts, "artifact", nil, "`PATH[:ACTION]` of a file that was created, modified, deleted or read; may be given several times")
	f.StringVar(&opts.JSON, "json", "", "read the entry from `FILE`, - for stdin; flags go before it")
	return cmd
}
