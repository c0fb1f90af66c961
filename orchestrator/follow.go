package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/verdict"
)

// follow brings the integration branch up to the branch that the epic began from, and lifts gates of the wanted tasks that depend on
// where it was.
func follow(ctx context.Context, r *run, wanted []bool) error {
	if r.state.engine.Follower == nil {
		return nil
	}
	var from string
	r.state.store.View(func(l *attempts.Ledger) { from = l.Integration.From })
	tip, notes, err := r.state.engine.Follower.Follow(ctx, from)
	if err != nil {
		return err
	}
	return r.state.recordNotes(notes, reopened(r, wanted, tip)...)
}

// reopened returns the events that lift gates of the wanted tasks, which begin from tip.
func reopened(r *run, wanted []bool, tip string) (events []attempts.Event) {
	for i := range r.state.o.Graph.Len() {
		id := r.state.o.Graph.ID(i)
		record := r.state.store.Task(id)
		task, ok := r.state.o.Epic.Task(id)
		out := !ok || wanted != nil && !wanted[i] || r.state.Withheld[i]
		if out || !verdict.Reopens(record, tip) || r.recovery.recorder.judge.ExhaustedGate(task, record) != nil {
			continue
		}
		note := &attempts.Note{Kind: "reopened", Text: id + " is tried again: the base has changed since it was gated"}
		events = append(events, attempts.Event{Type: attempts.TypeReopened, Task: id, Note: note})
	}
	return events
}
