package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator"
	"relay/orchestrator/engine"
	"relay/orchestrator/planner"
	"relay/orchestrator/verdict"
	"relay/runners"
)

// aside has an agent do something outside of the plan: do gets the options of a run, and what tells a person how it goes. aside takes
// signals as relay work does, and returns the one that came. The guardian is closed then.
func aside(
	ctx context.Context, a *cli.App, t Target, what string, do func(context.Context, orchestrator.Options, func(engine.Event)) error,
) (stopped os.Signal, err error) {
	ctx, c, err := begin(ctx, a, t, what)
	if err != nil {
		return nil, err
	}
	defer c.release()
	options := (&Options{App: a}).RunOptions(ctx, t.Project, t.Plan)
	options.Supervisor = cli.Walled(ctx, t.Project, t.Guardian, "")
	err = do(ctx, options, func(e engine.Event) {
		said := e.Detail.Text
		switch {
		case e.Kind == engine.KindMending:
		case e.Kind == engine.KindChecking:
			said = "checking: " + said
		case e.Kind == engine.KindSettingUp:
			said = "setting up: " + said
		case e.Kind == engine.KindActivity && e.Detail.Kind == runners.EventTool:
			said = e.Runner + ": " + said
		default:
			return
		}
		c.say(plaintext.Fit(options.Secrets.Text(said), 200))
	})
	c.end()
	return c.stop.signal(), err
}

// RunFork has an agent go on from a recorded conversation.
func RunFork(ctx context.Context, a *cli.App, t Target, r planner.ForkRequest) (done planner.ForkResult, err error) {
	_, err = aside(ctx, a, t, r.Title, func(ctx context.Context, o orchestrator.Options, tell func(engine.Event)) (err error) {
		done, err = planner.RunFork(ctx, o, r, tell)
		return err
	})
	return done, err
}

// RunPlanner has an agent write a plan, or what one lacks. usd caps its cost; 0: as an attempt. Its error has the exit code; a plan that
// cannot be used, or a cap that was met, is none.
func RunPlanner(ctx context.Context, a *cli.App, t Target, r planner.Request, usd float64) (done planner.Result, err error) {
	stopped, err := aside(ctx, a, t, "a plan", func(ctx context.Context, o orchestrator.Options, tell func(engine.Event)) (err error) {
		o.Budget.Attempt.USD = cmp.Or(usd, o.Budget.Attempt.USD)
		done, err = planner.Run(ctx, o, r, tell)
		return err
	})
	unable, ok := errors.AsType[*planner.UnableError](err)
	switch {
	case stopped != nil:
		fmt.Fprintln(a.Err, "relay: stopped: there is no plan, and nothing has changed")
		return done, terminal.ExitCode(terminal.CodeOfSignal(stopped))
	case ok && verdict.ClassOf(unable.Outcome).Refused:
		return done, &terminal.Hinted{Err: err, Code: terminal.NoRunner, Hint: status.Fix(t.Project, nil, unable.Runner, unable.Outcome,
			unable.Detail)}
	case ok && verdict.ClassOf(unable.Outcome).Runner == verdict.RunnerFailed:
		return done, &terminal.Hinted{Err: err, Code: terminal.NoRunner, Hint: "try again later, or name another agent: --runner NAME"}
	case ok:
		return done, &terminal.Hinted{Err: err, Code: terminal.Failure, Hint: "what it did is in " + t.Project.Rel(done.Folder)}
	}
	return done, err
}
