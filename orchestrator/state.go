package orchestrator

import (
	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/briefing"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/readback"
	"relay/orchestrator/updates"
	"relay/reanchor"
)

// state is what the parts of a run share: that of its scheduler, and what carries its decisions out.
type state struct {
	*decide.State

	o      *Options
	engine engine.Abilities
	store  ledger
	past   *readback.Reader // what other sessions have left
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

// recordNotes records and tells notes for a person.
func (s *state) recordNotes(notes []attempts.Note) error {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var events []attempts.Event
	for i := range notes {
		notes[i].Text = s.Redact.Block(notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &notes[i]})
		s.Notify(updates.Update{Kind: updates.Note, Text: notes[i].Text})
	}
	return s.store.Append(events...)
}

// briefInput returns what the brief of a task's attempt says besides the state of the checkout.
func (s *state) briefInput(task *epic.Task) reanchor.Input {
	in := briefing.Input(s.o.Local(), s.store, task)
	s.past.Fill(&in)
	return in
}

// wholeEpic returns the epic as an attempt to be judged.
func (s *state) wholeEpic() (a engine.Attempt) {
	s.store.View(func(l *attempts.Ledger) { a = briefing.WholeEpic(s.o.Run, s.o.Epic, l) })
	return a
}
