package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/agentlog"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator/view"
)

type logsOptions struct {
	app     *cli.App
	task    string // "": those at work, or else the last that was tried
	attempt int
	tail    int
	all     bool
	follow  bool
	json    bool
}

func newLogsCommand(a *cli.App) *cobra.Command {
	opts := logsOptions{app: a}
	cmd := &cobra.Command{
		Use:   "logs [TASK]",
		Short: "Show what agents do; --follow shows it live",
		Long: `Show what the agents of a task's last attempt did: what they said, the commands
they ran, the files they edited, what came of it, tokens and cost. Reviewers and
fix rounds are among it. Without TASK: what is at work now, or else the last
attempt of the last run; each line then begins with the task's id.
--follow goes on until the run is over, with later attempts.`,
		Example: `  relay logs T5
  relay logs T5 --follow
  relay logs T5 --attempt 1 --all | less`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.task = optional(args)
			return runLogs(cmd.Context(), opts)
		},
	}
	f := cmd.Flags()
	f.IntVar(&opts.attempt, "attempt", 0, "choose attempt `N`")
	f.BoolVarP(&opts.follow, "follow", "f", false, "go on with what is done, until the run is over")
	f.IntVar(&opts.tail, "tail", 200, "print the last `N` events")
	f.BoolVar(&opts.all, "all", false, "print all events")
	f.BoolVar(&opts.json, "json", false, "print JSON, one event a line")
	cmd.MarkFlagsMutuallyExclusive("attempt", "follow")
	return cmd
}

func runLogs(ctx context.Context, opts logsOptions) error {
	if opts.tail < 1 {
		return &terminal.UsageError{Message: "--tail is at least 1", Hint: "relay logs --all prints everything"}
	}
	if opts.attempt != 0 && opts.task == "" {
		return &terminal.UsageError{Message: "--attempt needs a task", Hint: fmt.Sprintf("relay logs TASK --attempt %d", opts.attempt)}
	}
	p, pl, known, err := opts.app.Viewed(ctx)
	if err != nil {
		return err
	}
	var list []agentlog.Attempt
	if opts.task == "" {
		list, err = agentlog.NewViewer(opts.app, p, agentlog.Options{}).AtWork(known, opts.follow)
	} else {
		t, unknown := pl.Task(opts.task)
		if unknown != nil {
			return unknown
		}
		opts.task = t.ID
		list, err = opts.ofTask(known, p.EpicFlag())
	}
	if err != nil {
		return err
	}
	return opts.show(ctx, p, list)
}

func (opts logsOptions) show(ctx context.Context, p *project.Project, list []agentlog.Attempt) error {
	o := agentlog.Options{Tail: opts.tail, JSON: opts.json, Marked: opts.task == ""}
	if opts.all {
		o.Tail = 0
	}
	v := agentlog.NewViewer(opts.app, p, o)
	if opts.follow {
		return v.Follow(ctx, opts.task, list)
	}
	return v.Show(list)
}

// ofTask returns the attempt of the task that is asked for. Of one that a run may still begin there may be none, if it is followed.
func (opts logsOptions) ofTask(v *attempts.View, flag string) ([]agentlog.Attempt, error) {
	rec := v.Ledger.Record(opts.task)
	if opts.follow && len(rec.Attempts) == 0 && project.IsActive(v) {
		return nil, nil
	}
	if g := rec.Gate; g != nil && len(rec.Attempts) > 0 {
		next := "relay ungate " + opts.task + flag + " to try again"
		if g.Reason == attempts.AwaitsAnswer {
			next = view.Answering(opts.task).Type + flag
		}
		fmt.Fprintf(opts.app.Err, "relay: note: %s is gated: %s; %s\n", opts.task, g.Text(), next)
	}
	at, err := agentlog.PickAttempt(opts.task, rec, opts.attempt)
	return []agentlog.Attempt{at}, err
}
