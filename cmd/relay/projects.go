package main

import (
	"context"
	"fmt"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
)

// session returns the user's session for the project that a command works in. It fails when -C names no folder.
func (a *app) session() (project.Session, error) {
	dir, err := a.folder()
	return project.Session{Dir: dir, Environ: a.environ, Now: a.now, Warn: func(text string) { a.warn([]string{text}) }}, err
}

// locate finds the project around the user's folder. See project.Locate.
func (a *app) locate(ctx context.Context, flags map[string]any) (*project.Project, error) {
	s, err := a.session()
	if err != nil {
		return nil, err
	}
	return project.Locate(ctx, s, flags)
}

// repository finds the project without its configuration.
func (a *app) repository(ctx context.Context) (*project.Project, error) {
	s, err := a.session()
	if err != nil {
		return nil, err
	}
	return project.Repository(ctx, s)
}

// planned finds the project and reads its plan. It fails when either has mistakes.
func (a *app) planned(ctx context.Context, flags map[string]any) (*project.Project, *project.Plan, error) {
	p, err := a.locate(ctx, flags)
	if err != nil {
		return nil, nil, err
	}
	pl, err := p.Plan()
	return p, pl, err
}

// known finds the project and its plan for commands that look at what was done, or decide on it. That needs no configuration and no
// epic.yml without mistakes: what is wrong with them is a warning, and the plan of the last run stands in for epic.yml.
func (a *app) known(ctx context.Context) (*project.Project, *project.Plan, error) {
	p, err := a.locateAnyhow(ctx)
	if err != nil {
		return nil, nil, err
	}
	pl, err := p.Plan()
	if err == nil {
		a.warn(p.Damage)
		return p, pl, nil
	}
	view, reading := attempts.Read(p.Dir, nil, nil)
	if reading != nil {
		return nil, nil, err
	}
	pl, warning, err := p.LastRunPlan(view, err)
	if err != nil {
		return nil, nil, err
	}
	a.warn(p.Damage)
	a.warn([]string{warning})
	return p, pl, nil
}

// locateAnyhow is locate that also succeeds when the configuration has mistakes: they become the project's Damage.
func (a *app) locateAnyhow(ctx context.Context) (*project.Project, error) {
	p, err := a.locate(ctx, nil)
	if err == nil || p == nil || p.Config == nil {
		return p, err
	}
	said := exit.Diagnose(err).Messages
	p.Damage = append(p.Damage, "the configuration has mistakes, and relay goes by the rest of it: "+said[0]+project.AndMore(len(said)-1))
	return p, nil
}

// warn tells each warning on a line of its own.
func (a *app) warn(warnings []string) {
	for _, text := range warnings {
		fmt.Fprintf(a.err, "relay: warning: %s\n", text)
	}
}
