package orchestrator

import (
	"context"

	"relay/attempts"
)

// base is what a run begins from.
type base struct{ state *state }

// follow brings the integration branch up to the branch that the epic began from.
func (b base) follow(ctx context.Context) error {
	if b.state.engine.Follower == nil {
		return nil
	}
	var from string
	b.state.store.View(func(l *attempts.Ledger) { from = l.Integration.From })
	notes, err := b.state.engine.Follower.Follow(ctx, from)
	if err != nil || len(notes) == 0 {
		return err
	}
	return b.state.recordNotes(notes)
}
