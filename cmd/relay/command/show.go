package command

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
)

type showOptions struct {
	app     *cli.App
	task    string
	attempt int
	part    agentlog.AttemptPart // of an attempt, to be printed; "" : none
	json    bool
}

func newShowCommand(a *cli.App) *cobra.Command {
	opts := showOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show TASK",
		Short: "Show a task, its attempts and what they left",
		Long: `Show a task: what was asked, every attempt with its receipt, and the gate.
The flags print what one attempt left behind: the last one, or with --attempt N
attempt N. --brief alone prints the brief of the next attempt. Output to a file
or pipe is not changed.`,
		Example: `  relay show T5
  relay show T5 --attempt 2 --log | less
  relay show T5 --attempt 1 --diff | git apply`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.task = args[0]
			for part := range shownParts {
				if given, _ := cmd.Flags().GetBool(string(part)); given {
					opts.part = part
				}
			}
			return runShow(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.IntVar(&opts.attempt, "attempt", 0, "choose attempt `N`")
	for part, help := range shownParts {
		f.Bool(string(part), false, help)
	}
	f.BoolVar(&opts.json, "json", false, "print JSON")
	cmd.MarkFlagsMutuallyExclusive("brief", "log", "diff", "checks", "review", "json")
	return cmd
}

// shownParts are the parts of an attempt that flags of their names print.
var shownParts = map[agentlog.AttemptPart]string{
	agentlog.PartBrief:  "print the brief of the next attempt (with --attempt N, of attempt N)",
	agentlog.PartLog:    "print the output of the agent as it is; relay logs TASK shows it for people",
	agentlog.PartDiff:   "print what the attempt changed",
	agentlog.PartChecks: "print the output of its checks",
	agentlog.PartReview: "print the reviews, and the proof of each criterion",
}

func runShow(ctx context.Context, opts showOptions) error {
	p, pl, view, err := opts.app.Viewed(ctx)
	if err != nil {
		return err
	}
	t, err := pl.Task(opts.task)
	if err != nil {
		return err
	}
	rec := view.Ledger.Record(t.ID)
	if opts.part == agentlog.PartBrief && opts.attempt == 0 && !rec.Completed {
		return opts.nextBrief(ctx, p, pl, view, t)
	}
	s := agentlog.NewTask(t, rec, view.Ledger, pl.Graph)
	if opts.part != "" || opts.attempt != 0 {
		at, err := agentlog.PickAttempt(t.ID, rec, opts.attempt)
		if err != nil {
			return err
		}
		if opts.part != "" {
			left := &agentlog.TaskAttempt{App: opts.app, Project: p, Task: t.ID, Attempt: at}
			return left.Write(ctx, opts.part)
		}
		s.Attempts = []attempts.Attempt{*at}
	}
	s.AddProgress(p)
	if opts.json {
		return opts.app.PrintJSON(s)
	}
	if n := len(s.Attempts); n > 0 {
		s.Logged = agentlog.NewViewer(opts.app, p, agentlog.Options{}).Has(agentlog.Attempt{Task: t.ID, Attempt: &s.Attempts[n-1]})
	}
	l := cli.Printer(opts.app, p)
	l.Dead = !view.Running
	s.Write(opts.app.Out, l)
	return nil
}

// nextBrief prints the brief that the next attempt would get now.
func (opts showOptions) nextBrief(ctx context.Context, p *project.Project, pl *project.Plan, view *attempts.View, t *epic.Task) error {
	work := session.Options{App: opts.app}
	brief, err := session.NextBrief(ctx, work.RunOptions(ctx, p, pl), view, t)
	if err != nil {
		return err
	}
	_, err = opts.app.Raw().Write(brief)
	return err
}

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
