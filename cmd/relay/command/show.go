package command

import (
	"context"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/session"
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
		work := session.Options{App: opts.app}
		brief, err := session.NextBrief(ctx, work.RunOptions(ctx, p, pl), view, t)
		if err != nil {
			return err
		}
		_, err = opts.app.Raw().Write(brief)
		return err
	}
	s, viewer := agentlog.NewTask(t, rec, view.Ledger, pl.Graph), agentlog.NewViewer(opts.app, p, agentlog.Options{})
	if opts.part != "" || opts.attempt != 0 {
		at, err := agentlog.PickAttempt(t.ID, rec, opts.attempt)
		if err != nil {
			return err
		}
		if opts.part != "" {
			return viewer.Write(ctx, at, opts.part)
		}
		s.Attempts = []attempts.Attempt{*at.Attempt}
	}
	s.AddProgress(p)
	if opts.json {
		return opts.app.PrintJSON(s)
	}
	if n := len(s.Attempts); n > 0 {
		s.Logged = viewer.Has(agentlog.Attempt{Task: t.ID, Attempt: &s.Attempts[n-1]})
	}
	l := cli.Printer(opts.app, p)
	l.Dead = !view.Running
	s.Write(opts.app.Out, l)
	return nil
}
