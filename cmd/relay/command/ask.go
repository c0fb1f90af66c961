package command

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
)

func newPauseCommand(a *cli.App) *cobra.Command {
	var off bool
	cmd := printing(&cobra.Command{
		Use:   "pause [--off]",
		Short: "Pause the current run",
		Long: `Pause the current run: it starts no new attempts until relay pause --off.
Running attempts finish and land; the run waits, at most until its deadline.
A pause ends with its run, but not with relay reload. To hold a single task,
type relay gate TASK.`,
	}, func(cmd *cobra.Command, _ []string, asJSON bool) error {
		what := attempts.RequestPause
		if off {
			what = attempts.RequestContinue
		}
		return runAsk(cmd.Context(), a, session.Request{What: what}, asJSON)
	})
	cmd.Flags().BoolVar(&off, "off", false, "go on")
	return cmd
}

func newStopCommand(a *cli.App) *cobra.Command {
	request := session.Request{What: attempts.RequestStop}
	cmd := printing(&cobra.Command{
		Use:   "stop [TASK] [--now]",
		Short: "Stop a task's running attempt, or the run",
		Long: `Stop the running attempt of a task. relay asks its agent to exit, keeps its work
and does not charge the task. This run does not try the task again until relay
retry TASK; the next run does. Other tasks continue.

Without a task the run stops, as with Ctrl-C in its terminal: relay asks its
agents to exit, and relay work continues later. With --now relay kills them, as
with a second Ctrl-C.`,
		Example: `  relay stop T4
  relay stop --now`,
		Args: cobra.MaximumNArgs(1),
	}, func(cmd *cobra.Command, args []string, asJSON bool) error {
		request.Task = optional(args)
		if request.Now && request.Task != "" {
			return &terminal.Hinted{Err: errors.New("--now is for the whole run"), Code: terminal.Usage, Hint: "relay stop " + request.Task + " asks the agent to end, and kills it if it does not"}
		}
		return runAsk(cmd.Context(), a, request, asJSON)
	})
	cmd.Flags().BoolVar(&request.Now, "now", false, "kill the agents of the run")
	return cmd
}

// askAnswer is what pause and stop print with --json.
type askAnswer struct {
	Task    string `json:"task,omitempty"`
	Message string `json:"message"`
}

// runAsk asks something of the run that is on.
func runAsk(ctx context.Context, a *cli.App, request session.Request, asJSON bool) error {
	p, pl, err := a.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	if request.Task != "" {
		if _, err := pl.Task(request.Task); err != nil {
			return err
		}
	}
	run, err := project.ActiveRun(ctx, p)
	if err != nil {
		return err
	}
	message, err := session.Ask(ctx, p, run.Holder, request)
	if err != nil {
		return err
	}
	return cli.Print(a, asJSON, askAnswer{Task: request.Task, Message: message}, message)
}
