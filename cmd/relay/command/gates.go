package command

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/session"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/orchestrator/decide"
)

func newGateCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestGate, gate, &cobra.Command{
		Use:   "gate TASK [--reason TEXT]",
		Short: "Hold a task",
		Long: `Hold a task until relay ungate TASK. Tasks that depend on it are blocked; others
continue. A running attempt finishes and is the last one; relay stop TASK stops
it too.`,
		Example: `  relay gate T5 --reason "waits for the new API key"`,
	})
	cmd.Flags().StringVar(&opts.Reason, "reason", "", "`TEXT` to record with the gate")
	return cmd
}

// gate holds a task, also one that relay has gated, and might try again.
func gate(o session.Decision, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	free, rec := *l, *l.Record(t.ID)
	note := decide.InPlaceOf(&rec)
	if note != "" {
		free.Tasks, rec.Gate = maps.Clone(l.Tasks), nil
		free.Tasks[t.ID] = &rec
	}
	events, message, err := session.Gate(o, p, &free, t)
	return events, message + note, err
}

func newApproveCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestApprove, session.Approve, &cobra.Command{
		Use:   "approve TASK [--note TEXT]",
		Short: "Accept a completed task as it is",
		Long: `Accept a completed task as it is, though relay saw something that it cannot
judge, such as changed tests: relay status lists these first under "needs you".
To have the task done again instead, type relay retry TASK. Approving a task of
the kind person completes it: you have done it.`,
		Example: `  relay approve T5 --note "the old test was wrong"`,
	})
	cmd.Flags().StringVar(&opts.Reason, "note", "", "`TEXT` to record with the approval")
	return cmd
}

func newAnswerCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestAnswer, session.Answer, &cobra.Command{
		Use:   "answer TASK [TEXT]",
		Short: "Answer a question of a task's agent",
		Long: `Answer a question of a task's agent: relay status shows the open ones. Without
TEXT relay reads the answer from standard input. The next agent of the task gets
it as your word, with the question.

A task that waits for the answer (gated: asks you) continues: relay resumes the
agent's session where the agent CLI still has it. A current run continues it
as soon as a job is free.`,
		Example: `  relay answer T4 "keep the old endpoint until 2.0"
  relay answer T4 < answer.md`,
	})
	cmd.Args = cobra.RangeArgs(1, 2)
	decide := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			opts.Reason = args[1]
		} else {
			text, err := io.ReadAll(io.LimitReader(a.In, attempts.MaxAnswer+1))
			if err != nil {
				return err
			}
			opts.Reason = string(text)
		}
		switch opts.Reason = strings.TrimSpace(opts.Reason); {
		case opts.Reason == "":
			return &terminal.Hinted{Err: errors.New("the answer is empty"), Code: terminal.Usage, Hint: "relay answer " + args[0] + ` "TEXT"`}
		case len(opts.Reason) > attempts.MaxAnswer:
			return &terminal.Hinted{Err: fmt.Errorf("the answer is longer than %d bytes", attempts.MaxAnswer), Code: terminal.Usage, Hint: "write it into a file of the repository, and name that file in the answer"}
		}
		return decide(cmd, args)
	}
	return cmd
}

func newUngateCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestUngate, session.Ungate, &cobra.Command{
		Use:   "ungate TASK [--note TEXT]",
		Short: "Release a gated task",
		Long: `Let relay try a gated task again. Earlier attempts no longer count against it,
but the next brief includes them. A completed task is approved, as by relay
approve. A current run tries the task again.`,
	})
	cmd.Flags().StringVar(&opts.Reason, "note", "", "`TEXT` for the task's next agent, as your word")
	return cmd
}

func newRetryCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestRetry, session.Retry, &cobra.Command{
		Use:   "retry TASK [--note TEXT]",
		Short: "Make a task pending again, also a completed one",
		Long: `Make a task pending again, gated or completed. Landed commits stay on the
branch: the next agent begins from there.

During a run the task is tried as soon as a job is free, if it was gated or
stopped, or waits for a runner that is not to be asked yet, as after a usage
limit: relay asks that runner at once. The run does not repeat completed tasks.`,
	})
	cmd.Flags().StringVar(&opts.Reason, "note", "", "`TEXT` for the task's next agent, as your word")
	cmd.Flags().BoolVar(&opts.Cascade, "cascade", false, "also all tasks that depend on it")
	return cmd
}

// deciding makes cmd the command of a decision about a task: relay decides on the ledger, or a current run does, and cmd prints the result.
func deciding(a *cli.App, what attempts.RequestKind, decide session.Decide, cmd *cobra.Command) (*cobra.Command, *session.Decision) {
	opts := &session.Decision{App: a}
	cmd.Args = cobra.ExactArgs(1)
	printing(cmd, func(cmd *cobra.Command, args []string, asJSON bool) error {
		opts.Task = args[0]
		p, pl, err := a.PlannedAnyhow(cmd.Context())
		if err != nil {
			return err
		}
		done, err := opts.Make(cmd.Context(), p, pl, what, decide)
		if err != nil {
			return err
		}
		return cli.Print(a, asJSON, done, done.Message)
	})
	if what != attempts.RequestGate {
		cmd.Flags().BoolVar(&opts.Same, "same", false, "also all tasks with the same question, error or reason")
	}
	return cmd, opts
}
