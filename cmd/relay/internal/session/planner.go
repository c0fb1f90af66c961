package session

import (
	"context"
	"errors"
	"fmt"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/planner"
	"relay/orchestrator/verdict"
	"relay/runners"
)

// RunPlanner has an agent write a plan, or what one lacks, tells what goes on, and takes signals as relay work does. usd caps its cost;
// 0: as an attempt. The guardian is closed then. Its error has the exit code; a plan that cannot be used, or a cap that was met, is none.
func RunPlanner(ctx context.Context, a *cli.App, t Target, r planner.Request, usd float64) (planner.Result, error) {
	ctx, c, err := begin(ctx, a, t, "a plan")
	if err != nil {
		return planner.Result{}, err
	}
	defer c.release()
	options := (&Options{App: a}).RunOptions(ctx, t.Project, t.Plan)
	options.Supervisor = t.Guardian
	if usd > 0 {
		options.Budget.Attempt.USD = usd
	}
	done, err := planner.Run(ctx, options, r, func(e engine.Event) {
		var what string
		switch {
		case e.Kind == engine.KindMending:
			what = e.Detail.Text
		case e.Kind == engine.KindChecking:
			what = "checking: " + e.Detail.Text
		case e.Kind == engine.KindSettingUp:
			what = "setting up: " + e.Detail.Text
		case e.Kind == engine.KindActivity && e.Detail.Kind == runners.EventTool:
			what = e.Runner + ": " + e.Detail.Text
		default:
			return
		}
		c.say(plaintext.Fit(options.Secrets.Text(what), 200))
	})
	c.end()
	unable, ok := errors.AsType[*planner.UnableError](err)
	switch {
	case c.stop.signal() != nil:
		fmt.Fprintln(a.Err, "relay: stopped: there is no plan, and nothing has changed")
		return done, terminal.ExitCode(terminal.CodeOfSignal(c.stop.signal()))
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
