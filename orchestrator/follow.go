package orchestrator

import (
	"context"

	"relay/attempts"
	"relay/orchestrator/verdict"
)

// follow brings the integration branch up to the branch that the epic began from, and lifts gates of the wanted tasks that depend on
// where it was, or on what the sandbox refused.
func follow(ctx context.Context, r *run, wanted []bool) (err error) {
	var from, tip string
	var notes []attempts.Note
	if r.state.engine.Follower != nil {
		r.state.store.View(func(l *attempts.Ledger) { from = l.Integration.From })
		if tip, notes, err = r.state.engine.Follower.Follow(ctx, from); err != nil {
			return err
		}
	}
	return r.state.recordNotes(notes, reopened(r, wanted, tip)...)
}

// reopened returns the events that lift gates of the wanted tasks, which begin from tip.
func reopened(r *run, wanted []bool, tip string) (events []attempts.Event) {
	for i := range r.state.o.Graph.Len() {
		id := r.state.o.Graph.ID(i)
		record := r.state.store.Task(id)
		task, ok := r.state.o.Epic.Task(id)
		why := verdict.Reopens(record, tip, r.state.o.Allowed)
		out := why == "" || !ok || wanted != nil && !wanted[i] || r.state.Withheld[i]
		if out || r.recovery.recorder.judge.ExhaustedGate(task, record) != nil {
			continue
		}
		note := &attempts.Note{Kind: "reopened", Text: id + " is tried again: " + why}
		events = append(events, attempts.Event{Type: attempts.TypeReopened, Task: id, Note: note})
	}
	return events
}
