package decide

import (
	"context"
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/updates"
)

// RecordUsage records what an agent or a reviewer has used so far, and cancels an agent that exceeds a budget. A review of
// delivered work counts but is not cancelled, as that would waste verified work. The caller holds Mu.
func (m *Limits) RecordUsage(h engine.Event) {
	over := m.Budget.Record(h.Task, h.Usage)
	m.used[h.Task] = h.Usage
	stop := m.stops[h.Task]
	cuts := stop != nil && over != nil && !h.Delivered
	if cuts || m.ExhaustedBy == nil && m.Budget.Exhausted() != nil {
		m.state.Step(m.state.Instant(), m.usedStep(h.Task, cuts))
	}
	if cuts {
		stop(over)
	}
	m.Exhausted()
}

// usedStep returns the step in which the attempt at a task has used so much that something ends: the attempt itself if cuts.
func (m *Limits) usedStep(task string, cuts bool) attempts.Step {
	made := attempts.Step{Kind: attempts.StepUsed}
	for _, id := range slices.Sorted(maps.Keys(m.used)) {
		if id != task {
			made.Used = append(made.Used, attempts.TaskUsage{Task: id, Usage: m.used[id]})
		}
	}
	made.Used = append(made.Used, attempts.TaskUsage{Task: task, Usage: m.used[task]}) // the last is what matters
	if cuts {
		made.Task = task
	}
	return made
}

// settledStep returns the step in which an attempt is over that has used so much in the end. What it told before goes with it where
// that was more.
func (m *Limits) settledStep(a engine.Attempt, used attempts.Usage) attempts.Step {
	made := attempts.Step{Kind: attempts.StepSettled, Task: a.Task.ID, Attempt: a.Number}
	if told, known := m.used[a.Task.ID]; known && (told.CostUSD > used.CostUSD || told.Uncached() > used.Uncached()) {
		made.Used = []attempts.TaskUsage{{Task: a.Task.ID, Usage: told}}
	}
	delete(m.used, a.Task.ID)
	return made
}

// Exhausted reports whether a budget keeps anything more from being started, and tells that once. The caller holds Mu.
func (m *Limits) Exhausted() bool {
	if m.ExhaustedBy == nil {
		if m.ExhaustedBy = m.Budget.Exhausted(); m.ExhaustedBy != nil {
			m.state.Step(m.state.Instant(), attempts.Step{Kind: attempts.StepExhausted})
		}
		if left := m.state.Counts(); m.ExhaustedBy != nil && left.Pending+left.Blocked > 0 {
			m.state.Notify(updates.Update{Kind: updates.Stopping, Text: m.ExhaustedBy.Error() + "; nothing new is started"})
		}
	}
	return m.ExhaustedBy != nil
}

// Begin has an attempt at a task, which had used so much before, count against the budgets; stop ends it. The caller holds Mu.
func (m *Limits) Begin(task *epic.Task, used attempts.Usage, stop context.CancelCauseFunc) {
	m.Budget.Begin(task, used)
	m.stops[task.ID] = stop
	if m.stopping[task.ID] { // while it was prepared
		stop(ErrStopped)
	}
}

// stopByPerson ends the attempt at a task, now or as soon as it begins. The caller holds Mu.
func (m *Limits) stopByPerson(task string) {
	m.stopping[task] = true
	if stop := m.stops[task]; stop != nil {
		stop(ErrStopped)
	}
}

// Over notes that nobody can be stopped any more at a task. The caller holds Mu.
func (m *Limits) Over(task string) { delete(m.stops, task) }

// Told notes what an attempt has told to have used, of which nothing follows by itself. The caller holds Mu.
func (m *Limits) Told(u attempts.TaskUsage) {
	_ = m.Budget.Record(u.Task, u.Usage)
	m.used[u.Task] = u.Usage
}
