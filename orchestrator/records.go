package orchestrator

import (
	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/recordkeeper"
)

// newKeeper returns who keeps the run's records.
func newKeeper(o *Options, warn func(string)) *recordkeeper.Keeper {
	return recordkeeper.New(recordkeeper.Options{
		Top: o.Root, Dir: o.Dir, EpicID: o.Epic.ID, Epic: o.Epic, Plan: o.Plan, Settings: o.Records, Warn: warn, Fault: o.Fault,
		AtEnd: o.Isolation == engine.IsolationShared,
	})
}

// warn records and tells what a person should know of the run's records. A ledger that failed says so where it does.
func (r *run) warn(words string) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	note := &attempts.Note{Kind: "records", Text: r.state.redact.Block(words)}
	r.state.notify(Update{Kind: UpdateNote, Text: note.Text})
	_ = r.state.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}
