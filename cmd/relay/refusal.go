package main

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator"
)

// wouldRefuse is why relay work would not begin, told by who only looks.
type wouldRefuse struct{ err error }

func (e *wouldRefuse) Error() string { return "relay work would refuse: " + e.err.Error() }
func (e *wouldRefuse) Unwrap() error { return e.err }

// refusal is what relay work would refuse to begin for; nil: nothing that can be told without beginning.
func (o *workOptions) refusal(ctx context.Context, p *place, pl *plan, view *attempts.View) error {
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
	c := tally(view.Ledger, pl.graph)
	if over := orchestrator.EpicSpent(p.budget(), view.Ledger); over != nil && c.Completed < c.Total {
		return &hinted{err: errors.New(over.Error()), hint: raiseEpic, code: exitStopped}
	}
	return orchestrator.Refuses(ctx, o.options(ctx, p, pl), view.Ledger)
}
