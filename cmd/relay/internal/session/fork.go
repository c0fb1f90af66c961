package session

import (
	"context"

	"relay/cmd/relay/internal/cli"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/planner"
	"relay/runners"
)

// RunFork has an agent go on from a recorded conversation, tells what it does, and takes signals as relay work does. The guardian is closed
// then.
func RunFork(ctx context.Context, a *cli.App, t Target, r planner.ForkRequest) (planner.ForkResult, error) {
	ctx, c, err := begin(ctx, a, t, r.Title)
	if err != nil {
		return planner.ForkResult{}, err
	}
	defer c.release()
	options := (&Options{App: a}).RunOptions(ctx, t.Project, t.Plan)
	options.Supervisor = t.Guardian
	done, err := planner.RunFork(ctx, options, r, func(e engine.Event) {
		if e.Kind == engine.KindActivity && e.Detail.Kind == runners.EventTool {
			c.say(plaintext.Fit(options.Secrets.Text(e.Runner+": "+e.Detail.Text), 150))
		}
	})
	c.end()
	return done, err
}
