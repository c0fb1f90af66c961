package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"relay/attempts"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/terminal"
	"relay/epic"
	"relay/epic/plaintext"
)

type gateOptions struct {
	app     *cli.App
	task    string
	reason  string // or the note of an approval, or an answer
	cascade bool
	json    bool
	flag    string // that names the epic to other commands; see [project.Project.EpicFlag]
}

func newGateCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestGate, gateTask, &cobra.Command{
		Use:   "gate TASK [--reason TEXT]",
		Short: "Hold a task",
		Long: `Hold a task until relay ungate TASK. Tasks that depend on it are blocked; others
continue. A running attempt finishes and is the last one; relay stop TASK stops
it too.`,
		Example: `  relay gate T5 --reason "waits for the new API key"`,
	})
	cmd.Flags().StringVar(&opts.reason, "reason", "", "`TEXT` to record with the gate")
	return cmd
}

func newApproveCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestApprove, approveTask, &cobra.Command{
		Use:   "approve TASK [--note TEXT]",
		Short: "Accept a completed task as it is",
		Long: `Accept a completed task as it is, though relay saw something that it cannot
judge, such as changed tests: relay status lists these first under "needs you".
To have the task done again instead, type relay retry TASK. Approving a task of
the kind person completes it: you have done it.`,
		Example: `  relay approve T5 --note "the old test was wrong"`,
	})
	cmd.Flags().StringVar(&opts.reason, "note", "", "`TEXT` to record with the approval")
	return cmd
}

func newAnswerCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestAnswer, answerTask, &cobra.Command{
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
			opts.reason = args[1]
		} else {
			text, err := io.ReadAll(io.LimitReader(a.In, attempts.MaxAnswer+1))
			if err != nil {
				return err
			}
			opts.reason = string(text)
		}
		switch opts.reason = strings.TrimSpace(opts.reason); {
		case opts.reason == "":
			return &terminal.Hinted{Err: errors.New("the answer is empty"), Code: terminal.Usage, Hint: "relay answer " + args[0] + ` "TEXT"`}
		case len(opts.reason) > attempts.MaxAnswer:
			return &terminal.Hinted{Err: fmt.Errorf("the answer is longer than %d bytes", attempts.MaxAnswer), Code: terminal.Usage, Hint: "write it into a file of the repository, and name that file in the answer"}
		}
		return decide(cmd, args)
	}
	return cmd
}

func newUngateCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestUngate, ungateTask, &cobra.Command{
		Use:   "ungate TASK [--note TEXT]",
		Short: "Release a gated task",
		Long: `Let relay try a gated task again. Earlier attempts no longer count against it,
but the next brief includes them. A completed task is approved, as by relay
approve. A current run tries the task again.`,
	})
	cmd.Flags().StringVar(&opts.reason, "note", "", "`TEXT` for the task's next agent, as your word")
	return cmd
}

func newRetryCommand(a *cli.App) *cobra.Command {
	cmd, opts := deciding(a, attempts.RequestRetry, retryTask, &cobra.Command{
		Use:   "retry TASK [--note TEXT]",
		Short: "Make a task pending again, also a completed one",
		Long: `Make a task pending again, gated or completed. Landed commits stay on the
branch: the next agent begins from there.

During a run the task is tried as soon as a job is free, if it was gated or
stopped, or waits for a runner that is not to be asked yet, as after a usage
limit: relay asks that runner at once. The run does not repeat completed tasks.`,
	})
	cmd.Flags().StringVar(&opts.reason, "note", "", "`TEXT` for the task's next agent, as your word")
	cmd.Flags().BoolVar(&opts.cascade, "cascade", false, "also all tasks that depend on it")
	return cmd
}

// deciding makes cmd the command of a decision about a task.
func deciding(a *cli.App, what attempts.RequestKind, decide decision, cmd *cobra.Command) (*cobra.Command, *gateOptions) {
	opts := &gateOptions{app: a}
	cmd.Args = cobra.ExactArgs(1)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		opts.task = args[0]
		return runGate(cmd.Context(), *opts, what, decide)
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd, opts
}

// decision turns what a person wants into events, with what to tell them.
type decision func(o gateOptions, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error)

// gateAnswer is what gate, ungate and retry print with --json.
type gateAnswer struct {
	Task    string   `json:"task"`
	Changed []string `json:"changed"` // tasks whose state was changed
	Message string   `json:"message"`
}

// runGate decides on the ledger, or, while a run is on, has that do it, and prints what it did.
func runGate(ctx context.Context, opts gateOptions, what attempts.RequestKind, decide decision) error {
	p, pl, err := opts.app.PlannedAnyhow(ctx)
	if err != nil {
		return err
	}
	done, err := opts.decide(ctx, p, pl, what, decide)
	if err != nil {
		return err
	}
	return cli.Print(opts.app, opts.json, done, done.Message)
}

// decide is runGate of a project and its plan, and prints nothing.
func (o gateOptions) decide(
	ctx context.Context, p *project.Project, pl *project.Plan, what attempts.RequestKind, decide decision,
) (done gateAnswer, err error) {
	o.flag = p.EpicFlag()
	t, err := pl.Task(o.task)
	if err != nil {
		return done, err
	}
	store, err := p.Open(pl)
	if held, ok := errors.AsType[*attempts.HeldError](err); ok {
		return askRunInstead(ctx, o, p, held, what)
	}
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, p.Close(store, pl)) }()
	var events []attempts.Event
	var message string
	store.View(func(l *attempts.Ledger) { events, message, err = decide(o, pl, l, t) })
	if err != nil {
		return done, err
	}
	if err := store.Append(events...); err != nil {
		return done, err
	}
	done = gateAnswer{Task: t.ID, Changed: []string{}, Message: message}
	for _, e := range events {
		done.Changed = append(done.Changed, e.Task)
	}
	return done, nil
}

func gateTask(o gateOptions, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	switch l.StatusOf(p.Graph, t.ID) {
	case attempts.Completed:
		return nil, "", &terminal.Hinted{Err: fmt.Errorf("%s is completed", t.ID), Hint: "relay retry " + t.ID + o.flag + " makes it pending again; then it can be gated"}
	case attempts.Gated:
		return nil, fmt.Sprintf("%s is gated already: %s", t.ID, l.Tasks[t.ID].Gate.Reason.Words()), nil
	default: // the others can be gated
	}
	message := t.ID + " is gated"
	if n := p.Waiting(l, t.ID); n > 0 {
		message += ", which blocks " + plaintext.Count(n, "task")
	}
	gate := &attempts.Gate{Reason: attempts.UserBlocked, Detail: plaintext.Capped(o.app.Secrets.Text(o.reason), 500), At: o.app.Now().UTC()}
	return []attempts.Event{{Type: attempts.TypeGated, Task: t.ID, Gate: gate}}, message, nil
}

func approveTask(o gateOptions, _ *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	rec := l.Tasks[t.ID]
	done := rec != nil && rec.Gate != nil && t.Kind == epic.KindPerson
	if rec == nil || len(rec.Looks()) == 0 && !done {
		return nil, "", &terminal.Hinted{Err: fmt.Errorf("%s has nothing to approve", t.ID), Hint: "relay status" + o.flag +
			" lists what needs you"}
	}
	why := plaintext.Capped(o.app.Secrets.Text(o.reason), 500)
	approved := attempts.Event{Type: attempts.TypeApproved, Task: t.ID, Note: &attempts.Note{Kind: "approved", Text: why}}
	if done {
		return []attempts.Event{approved}, t.ID + " is completed, as you have done it", nil
	}
	return []attempts.Event{approved}, t.ID + " is approved as it is", nil
}

func ungateTask(o gateOptions, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	if rec := l.Tasks[t.ID]; rec != nil && len(rec.Looks()) > 0 {
		return approveTask(o, p, l, t)
	}
	if status := l.StatusOf(p.Graph, t.ID); status != attempts.Gated {
		err := fmt.Errorf("%s is not gated, but %s", t.ID, status)
		return nil, "", &terminal.Hinted{Err: err, Hint: "relay status" + o.flag + " lists the gated tasks"}
	}
	ungated := attempts.Event{Type: attempts.TypeUngated, Task: t.ID, Answer: o.said(l)}
	return []attempts.Event{ungated}, t.ID + " will be tried again: relay work" + o.flag, nil
}

// said returns what the person says to the task's next agent, without secrets; nil: nothing.
func (o gateOptions) said(l *attempts.Ledger) *attempts.Answer {
	var rec attempts.TaskRecord
	if known := l.Tasks[o.task]; known != nil {
		rec = *known
	}
	return rec.AnswerTo(o.app.Secrets.Text(o.reason))
}

func answerTask(o gateOptions, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	message := t.ID + "'s next agent gets your answer"
	switch status := l.StatusOf(p.Graph, t.ID); {
	case status == attempts.Completed:
		message = t.ID + " is completed, and your answer is recorded: relay retry " + t.ID + o.flag + " has it done again with the answer"
	case status == attempts.Gated && l.Tasks[t.ID].Gate.Reason == attempts.AwaitsAnswer:
		message = t.ID + " continues with your answer: relay work" + o.flag
	case status == attempts.Gated:
		message += "; it is still gated: relay ungate " + t.ID + o.flag
	}
	return []attempts.Event{{Type: attempts.TypeAnswered, Task: t.ID, Answer: o.said(l)}}, message, nil
}

func retryTask(o gateOptions, p *project.Plan, l *attempts.Ledger, t *epic.Task) ([]attempts.Event, string, error) {
	events := []attempts.Event{{Type: attempts.TypeReset, Task: t.ID, Answer: o.said(l)}}
	if o.cascade {
		for _, id := range p.Downstream(t.ID) {
			if rec := l.Tasks[id]; rec != nil && (rec.Completed || rec.Gate != nil) {
				events = append(events, attempts.Event{Type: attempts.TypeReset, Task: id})
			}
		}
	}
	message := t.ID + " is pending again"
	stays := ""
	if rec := l.Tasks[t.ID]; rec != nil && rec.Completed {
		stays = "\nits commits stay: revert them or change the task in epic.yml, or the agent finds nothing to do"
	}
	if n := len(events) - 1; n > 0 {
		message += fmt.Sprintf(", and so %s %s that depend on it", plaintext.Verb(n, "is", "are"), plaintext.Count(n, "task"))
	}
	return events, message + ": relay work" + o.flag + stays, nil
}
