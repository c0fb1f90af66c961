package orchestrator

import (
	"context"
	"errors"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/verdict"
)

// base is what the tasks of a run begin from.
type base struct {
	state *state
	judge *decide.Judge
}

// follow brings the integration branch up to the branch that the epic began from, and lifts gates of the wanted tasks that depend on
// where it was.
func (b *base) follow(ctx context.Context, wanted []bool) error {
	if b.state.engine.Follower == nil {
		return nil
	}
	var from string
	b.state.store.View(func(l *attempts.Ledger) { from = l.Integration.From })
	notes, err := b.state.engine.Follower.Follow(ctx, from)
	if err != nil {
		return err
	}
	tip, err := b.state.engine.Lifecycle.Tip(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.state.recordNotes(notes), b.state.recordNoted(b.reopened(wanted, tip)))
}

// reopened returns the events that lift gates of the wanted tasks, which begin from tip.
func (b *base) reopened(wanted []bool, tip string) (events []attempts.Event) {
	for i := range b.state.o.Graph.Len() {
		id := b.state.o.Graph.ID(i)
		task, ok := b.state.o.Epic.Task(id)
		record := b.state.store.Task(id)
		out := !ok || wanted != nil && !wanted[i] || b.state.Withheld[i]
		if out || !verdict.Reopens(record, tip) || b.judge.ExhaustedGate(task, record) != nil {
			continue
		}
		note := &attempts.Note{Kind: "reopened", Text: id + " is tried again: the base has changed since it was gated"}
		events = append(events, attempts.Event{Type: attempts.TypeReopened, Task: id, Note: note})
	}
	return events
}
