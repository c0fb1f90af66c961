package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/decide"
	"relay/orchestrator/updates"
)

// base is what the tasks of a run begin from.
type base struct {
	state *state
	judge *decide.Judge
}

// follow brings the integration branch up to the branch that the epic began from, and lifts gates that depend on where it was.
func (b *base) follow(ctx context.Context, wanted []bool) error {
	if b.state.engine.Follower == nil {
		return nil
	}
	var from string
	b.state.store.View(func(l *attempts.Ledger) { from = l.Integration.From })
	notes, err := b.state.engine.Follower.Follow(ctx, from)
	if err == nil && len(notes) > 0 {
		err = b.state.recordNotes(notes)
	}
	if err != nil {
		return err
	}
	tip, err := b.state.engine.Lifecycle.Tip(ctx)
	if err != nil {
		return err
	}
	return b.reopen(wanted, tip)
}

// reopen lifts gates of the wanted tasks, which begin from tip.
func (b *base) reopen(wanted []bool, tip string) error {
	var events []attempts.Event
	for i := range b.state.o.Epic.Tasks {
		task := &b.state.o.Epic.Tasks[i]
		at, ok := b.state.o.Graph.Index(task.ID)
		out := !ok || wanted != nil && !wanted[at] || b.state.Withheld[at]
		if out || !b.judge.Reopens(task, b.state.store.Task(task.ID), tip) {
			continue
		}
		note := &attempts.Note{Kind: "reopened", Text: task.ID + " is tried again: the base has changed since it was gated"}
		events = append(events, attempts.Event{Type: attempts.TypeReopened, Task: task.ID, Note: note})
	}
	if len(events) == 0 {
		return nil
	}
	b.state.CarrySteps(events)
	if err := b.state.store.Append(events...); err != nil {
		return err
	}
	b.state.WithLock(func() {
		for _, e := range events {
			b.state.Notify(updates.Update{Kind: updates.Note, Text: e.Note.Text})
		}
	})
	return nil
}
