package session

import (
	"context"
	"errors"
	"slices"

	"relay/cmd/relay/internal/cli"
	"relay/cmd/relay/internal/project"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/planner"
	"relay/runners/sandbox"
)

// Machine is this machine, for the commands of another module.
type Machine struct{ App *cli.App }

// Carry carries out an attempt that a relay elsewhere has decided, in the repository of dir, with the runners of this machine, and the
// stricter sandbox of both. fill gets its options, changes them to those of the order, and returns the attempt. observe is called with the
// events, from one goroutine. Carry keeps the work below refs/relay; stay says in words what could not be removed afterwards. The
// repository need not be trusted here: the person at the other relay was asked.
func (m Machine) Carry(
	ctx context.Context, dir string, fill func(mine *engine.LocalOptions) (engine.Attempt, error), observe func(engine.Event),
) (r engine.Result, stay []string, err error) {
	var p *project.Project
	a := *m.App
	a.Dir = dir
	g, err := cli.StartGuardian(&a, func() (err error) { p, err = a.Locate(ctx, nil); return err })
	if err != nil {
		return r, nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	o := (&Options{App: &a}).RunOptions(ctx, p, &project.Plan{Epic: &epic.Epic{}})
	of, err := fill(&o.LocalOptions)
	strict := []string{sandbox.Off, sandbox.Auto, sandbox.Require}
	if slices.Index(strict, o.Sandbox) > slices.Index(strict, p.Config.Relay.Sandbox) {
		p.Config.Relay.Sandbox, p.Sandbox = o.Sandbox, nil // to be found again
	}
	o.Supervisor, o.Engine, o.Engines = cli.Walled(ctx, p, g, ""), engine.Local, nil
	if err == nil {
		err = errors.Join(p.EnsureIgnored(), cli.CheckSandbox(ctx, p, []epic.Task{of.Task}))
	}
	if err != nil {
		return r, nil, err
	}
	return planner.Carry(ctx, o, of, observe)
}
