package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/cmd/relay/internal/trust"
	"relay/configs"
)

type configOptions struct {
	app    *cli.App
	key    string
	schema string
	json   bool
}

func newConfigCommand(a *cli.App) *cobra.Command {
	opts := configOptions{app: a}
	cmd := &cobra.Command{
		Use:   "config [KEY]",
		Short: "Show every setting and where it comes from",
		Long: `Show every setting with its value and where it comes from.

Weakest first: built-in defaults, $XDG_CONFIG_HOME/relay/agents.yml,
.agents.yml and .agents.local.yml in the repository, RELAY_ variables, flags.
KEY limits the list to one setting or a group, such as relay.review.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				opts.key = args[0]
			}
			return runConfig(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.schema, "schema", "", "print the JSON Schema of `FILE`: config or epic")
	cmd.Flags().Lookup("schema").NoOptDefVal = "config"
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runConfig(ctx context.Context, opts configOptions) error {
	if opts.schema != "" {
		return printSchema(opts)
	}
	p, err := opts.app.Locate(ctx, nil)
	if err != nil {
		return err
	}
	values := p.Config.Explain()
	if opts.key != "" {
		var near string
		if values, near = p.Config.Keys(opts.key); len(values) == 0 {
			hint := "relay config lists every setting"
			if near != "" {
				hint = "did you mean " + near + "?"
			}
			return &terminal.UsageError{Message: "there is no setting " + terminal.Quote(opts.key), Hint: hint}
		}
	}
	project.RelativeOrigins(p, values)
	opts.app.Warn(p.Config.Warnings...)
	if opts.json {
		return opts.app.PrintJSON(values)
	}
	width := [2]int{}
	for _, v := range values {
		width[0] = max(width[0], len(v.Key))
		width[1] = min(max(width[1], displaywidth.String(v.String())), 30)
	}
	for _, v := range values {
		fmt.Fprintf(opts.app.Out, "%s  %s  %s\n", terminal.Pad(v.Key, width[0]), terminal.Pad(v.String(), width[1]), v.Origin)
	}
	return nil
}

// printSchema takes the name of the schema from behind the flag with or without an equals sign.
func printSchema(opts configOptions) error {
	name := cmp.Or(opts.key, opts.schema)
	var schema []byte
	switch name {
	case "config":
		schema = configs.ConfigSchema()
	case "epic":
		schema = configs.EpicSchema()
	default:
		return &terminal.UsageError{Message: "there is no schema " + terminal.Quote(name), Hint: "relay config --schema, or relay config --schema epic"}
	}
	return opts.app.PrintJSON(json.RawMessage(schema))
}

func newTrustCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "trust",
		Short: "Trust what the repository's own files run",
		Long: `Show and trust what the repository's .agents.yml would have relay run or hand
out. Settings that you write or commit yourself need no trust.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.Locate(cmd.Context(), nil)
			if err != nil {
				return err
			}
			return trust.Ask(cmd.Context(), a, p, true)
		},
	}
}
