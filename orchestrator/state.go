package orchestrator

import (
	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/reanchor"
)

// state is what the parts of a run share: that of its scheduler, and what carries its decisions out.
type state struct {
	*decide.State

	o      *Options
	engine engine.Abilities
	store  ledger
	past   *reanchor.RecordReader // what other sessions have left
}

// ledger is what a run needs of the epic's memory. See [attempts.Store].
type ledger interface {
	briefing.Memory
	Counts() map[attempts.Status]int
	View(func(*attempts.Ledger))
	Append(...attempts.Event) error
	AppendLater(...attempts.Event) error
	Close() error
}

// recordNotes records notes for a person, and then events that have one, and passes all notes to the watcher.
func (s *state) recordNotes(notes []attempts.Note, noted ...attempts.Event) error {
	events := each.Of(notes, func(n attempts.Note) attempts.Event { return attempts.Event{Type: attempts.TypeNote, Note: &n} })
	events = append(events, noted...)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for _, e := range events {
		e.Note.Text = s.Redact.Block(e.Note.Text)
		s.Notify(decide.Update{Kind: decide.Note, Text: e.Note.Text})
	}
	return s.store.Append(events...)
}

// noteLater tells a note and records it. No decision depends on it, and a ledger that failed returns its error elsewhere. The caller
// holds Mu.
func (s *state) noteLater(kind, text string) {
	s.Notify(decide.Update{Kind: decide.Note, Text: text})
	_ = s.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: kind, Text: text}})
}

// briefInput returns what the brief of a task's attempt says besides the state of the checkout.
func briefInput(s *state, task *epic.Task) reanchor.Input {
	in := briefing.Input(&s.o.LocalOptions, s.store, task)
	in.NeverAsk = s.o.NeverAsk
	s.past.Fill(&in)
	return in
}

// wholeEpic returns the epic as an attempt to be judged.
func wholeEpic(s *state) (a engine.Attempt) {
	s.store.View(func(l *attempts.Ledger) { a = briefing.WholeEpic(s.o.Run, s.o.Epic, l) })
	return a
}
