package attempts

import "relay/epic"

// Memory is a ledger that is made of events alone, and written nowhere. It is not safe for use by several goroutines.
type Memory struct{ fold *fold }

// NewMemory returns the memory of an epic of which no event is known yet.
func NewMemory(g *epic.Graph) *Memory { return &Memory{newFold(g, nil)} }

// Fold adds an event. Events come in the order in which they happened.
func (m *Memory) Fold(e Event) { m.fold.apply(&e) }

// View calls f with the ledger as it is now. f must not change it.
func (m *Memory) View(f func(*Ledger)) { f(m.fold.ledger) }

// Task returns a copy of one task's record, as [Store.Task] does.
func (m *Memory) Task(id string) TaskRecord { return m.fold.ledger.Tasks[id].clone() }

// Counts reports how many tasks of the epic are in each state.
func (m *Memory) Counts() map[Status]int { return m.fold.tasks.counts }
