package command

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
)

type graphOptions struct {
	app    *cli.App
	format string
}

func newGraphCommand(a *cli.App) *cobra.Command {
	opts := graphOptions{app: a}
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Draw the task graph",
		Long: `Draw the epic's task graph: what waits for what, and the critical path.

The mermaid form can be pasted into a pull request, the dot form goes to
Graphviz: relay graph --format dot | dot -Tsvg -o graph.svg`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runGraph(cmd.Context(), opts) },
	}
	cmd.Flags().StringVar(&opts.format, "format", "text", "draw it as `FORM`: "+strings.Join(epic.Formats, ", "))
	return cmd
}

func runGraph(ctx context.Context, opts graphOptions) error {
	if !slices.Contains(epic.Formats, opts.format) {
		return &terminal.UsageError{Message: "there is no format " + terminal.Quote(opts.format), Hint: "use " + strings.Join(epic.Formats, ", ")}
	}
	_, plan, err := opts.app.Planned(ctx, nil)
	if err != nil {
		return err
	}
	var drawn bytes.Buffer
	if err := plan.Graph.Write(&drawn, plan.Epic, opts.format); err != nil {
		return fmt.Errorf("draw the graph: %w", err)
	}
	text := drawn.String()
	if first, rest, found := strings.Cut(text, "\n"); found && opts.format == "text" {
		fmt.Fprintf(opts.app.Out, "%s\n%s", opts.app.Out.Palette.Strong(first), rest)
	} else {
		fmt.Fprint(opts.app.Out, text)
	}
	return nil
}
