package main

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/cmd/relay/internal/exit"
	"relay/cmd/relay/internal/project"
	"relay/orchestrator"
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
	c := tally(view.Ledger, pl.Graph)
	if over := orchestrator.EpicSpent(p.Budget(), view.Ledger); over != nil && c.Completed < c.Total {
		return &exit.Hinted{Err: errors.New(over.Error()), Hint: project.RaiseEpicBudget, Code: exit.Stopped}
	}
	return orchestrator.Refuses(ctx, o.options(ctx, p, pl), view.Ledger)
}
