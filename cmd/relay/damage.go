package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"relay/attempts"
)

// known finds the place and its plan for those who look at what was done, or decide on it. That needs no configuration and no
// epic.yml without mistakes: what is wrong with them is a warning, and the plan of the last run stands in for epic.yml.
func (a *app) known(ctx context.Context) (*place, *plan, error) {
	p, err := a.locateAnyhow(ctx)
	if err != nil {
		return nil, nil, err
	}
	pl, err := p.plan()
	if err == nil {
		a.warn(p.damage)
		return p, pl, nil
	}
	view, reading := attempts.Read(p.dir, nil, nil)
	if reading != nil {
		return nil, nil, err
	}
	pl, warning, err := p.lastPlan(view, err)
	if err != nil {
		return nil, nil, err
	}
	a.warn(p.damage)
	a.warn([]string{warning})
	return p, pl, nil
}

// locateAnyhow is locate, also when the configuration has mistakes: what is wrong with it is the place's damage then.
func (a *app) locateAnyhow(ctx context.Context) (*place, error) {
	p, err := a.locate(ctx, nil)
	if err == nil || p == nil || p.config == nil {
		return p, err
	}
	said := diagnose(err).messages
	p.damage = append(p.damage, "the configuration has mistakes, and relay goes by the rest of it: "+said[0]+andMore(len(said)-1))
	return p, nil
}

// andMore says that there is more than what was said.
func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; and %d more", n)
}

// warn tells each warning on a line of its own.
func (a *app) warn(warnings []string) {
	for _, text := range warnings {
		fmt.Fprintf(a.err, "relay: warning: %s\n", text)
	}
}

// lastPlan is the plan that the newest run went by, for the time that epic.yml cannot be read. The mistakes are returned when
// there is none.
func (p *place) lastPlan(view *attempts.View, mistakes error) (*plan, string, error) {
	runs, _ := os.ReadDir(p.file(attempts.RunsDir)) // none: then there is no plan either
	for _, run := range slices.Backward(runs) {
		source := p.keptSource(run.Name())
		if source == nil {
			continue
		}
		pl, err := parsePlan(p.shown(p.keptFile(run.Name())), source)
		if err != nil || view.Ledger.EpicID != "" && pl.epic.ID != view.Ledger.EpicID {
			continue
		}
		said := diagnose(mistakes).messages
		return pl, said[0] + andMore(len(said)-1) + "; this goes by the plan of the last run, " + p.shown(p.keptFile(run.Name())), nil
	}
	return nil, "", mistakes
}
