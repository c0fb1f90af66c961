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
	"relay/epic/each"
	"relay/orchestrator/picture"
	"relay/orchestrator/view"
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
		Long: `Draw the epic's task graph: what waits for what, the critical path, and how
each task is once a run has begun.

The mermaid form can be pasted into a pull request, the dot form goes to
Graphviz, and the svg form to a browser: relay graph --format svg > graph.svg`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runGraph(cmd.Context(), opts) },
	}
	cmd.Flags().StringVar(&opts.format, "format", "text", "draw it as `FORM`: "+strings.Join(graphFormats(), ", "))
	return cmd
}

func graphFormats() []string { return append(slices.Clone(epic.Formats), "svg") }

func runGraph(ctx context.Context, opts graphOptions) error {
	if all := graphFormats(); !slices.Contains(all, opts.format) {
		return &terminal.UsageError{Message: "there is no format " + terminal.Quote(opts.format), Hint: "use " + strings.Join(all, ", ")}
	}
	p, plan, err := opts.app.Planned(ctx, nil)
	if err != nil {
		return err
	}
	known, err := p.View(plan)
	if err != nil {
		return err
	}
	night := view.New(view.Input{Epic: plan.Epic, Graph: plan.Graph, Ledger: known.Ledger, Running: known.Running})
	graph := night.Graph(opts.app.Now())
	if opts.format == "svg" {
		fmt.Fprint(opts.app.Out, picture.Graph(graph, picture.Options{File: true}))
		return nil
	}
	var marks []epic.Mark
	if known.Ledger.Run != "" {
		marks = each.Of(graph.Nodes, func(n view.Node) epic.Mark { return picture.Mark(n.State) })
	}
	var drawn bytes.Buffer
	if err := plan.Graph.Write(&drawn, plan.Epic, opts.format, marks); err != nil {
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
