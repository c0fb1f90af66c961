package session

import (
	"context"

	"relay/cmd/relay/internal/checkup"
	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/trust"
	"relay/orchestrator"
	"relay/runners/process"
)

// CheckupHost gives the examination what only the program has. With run it runs every check; with ask it asks every agent.
func CheckupHost(a *cli.App, run, ask bool) checkup.Host {
	return checkup.Host{
		Session:   a.Session,
		Trust:     func(ctx context.Context, p *project.Project) error { return trust.Ask(ctx, a, p, false) },
		Guardian:  func() (*process.Guardian, error) { return cli.StartGuardian(a, func() error { return nil }) },
		StayAwake: func(ctx context.Context) (string, error) { return cli.CheckAwake(ctx, a.Environ) },
		RunOptions: func(ctx context.Context, p *project.Project, pl *project.Plan) orchestrator.Options {
			o := Options{App: a}
			return o.RunOptions(ctx, p, pl)
		},
		RunChecks: run,
		Ask:       ask,
		Beyond:    a.Beyond,
	}
}

// Check checks this machine as relay check does, for attempts in the repository of dir, which need not be trusted: see [Machine.Carry].
func (m Machine) Check(ctx context.Context, dir string, ask bool) []checkup.Point {
	a := *m.App
	a.Dir, a.Beyond = dir, nil
	h := CheckupHost(&a, false, ask)
	h.Trust = func(context.Context, *project.Project) error { return nil }
	points, _ := checkup.Run(ctx, h)
	return points
}
