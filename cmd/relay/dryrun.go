package main

import (
	"context"
	"errors"
	"fmt"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/cmd/relay/internal/status"
	"relay/cmd/relay/internal/terminal"
	"relay/orchestrator"
	"relay/orchestrator/budget"
)

// refusal is what relay work would refuse to begin for; nil: nothing that can be told without beginning.
func (o *workOptions) refusal(ctx context.Context, p *project.Project, pl *project.Plan, view *attempts.View) error {
	if err := o.equipped(p, pl); err != nil {
		return err
	}
	switch {
	case view.Running && view.Holder != nil:
		return &attempts.HeldError{Holder: *view.Holder}
	case len(view.Faults) > 0:
		return &attempts.DamageError{Faults: view.Faults}
	case view.Broken != nil:
		return view.Broken
	case view.Edit != "":
		return &attempts.EditedError{Path: attempts.LedgerFile, Diff: view.Edit}
	}
	c := status.CountTasks(view.Ledger, pl.Graph)
	if over := budget.EpicExhausted(p.Budget(), view.Ledger); over != nil && c.Completed < c.Total {
		return &exit.Hinted{Err: errors.New(over.Error()), Hint: project.RaiseEpicBudget, Code: exit.Stopped}
	}
	return orchestrator.Refuses(ctx, o.options(ctx, p, pl), view.Ledger)
}

// dryRunOnly says what a run would do and in which order, and does nothing.
func (o *workOptions) dryRunOnly(ctx context.Context, p *project.Project, pl *project.Plan) error {
	view, err := p.View(pl)
	if err != nil {
		return err
	}
	for _, w := range p.Config.Warnings {
		fmt.Fprintf(o.app.err, "relay: warning: %s\n", w)
	}
	refused := o.refusal(ctx, p, pl, view)
	r, err := status.NewDryRun(p, pl, view, status.DryRunOptions{Tasks: o.tasks, AskNow: o.askNow, Now: o.app.now()})
	if err != nil {
		return err
	}
	if refused != nil {
		r.Refused = exit.Diagnose(refused).Messages[0]
		refused = &exit.WouldRefuse{Err: refused}
	}
	if o.json {
		return errors.Join(o.app.printJSON(r), refused)
	}
	r.Write(o.app.out, terminal.Columns(o.app.out.Dest))
	return refused
}
