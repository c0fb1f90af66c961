package orchestrator

import (
	"maps"
	"slices"

	"relay/attempts"
	"relay/orchestrator/engine"
)

// recordUsage records what an agent or a reviewer has used so far, and cancels an agent that exceeds a budget. A review of
// delivered work counts but is not cancelled, as that would waste verified work. The caller holds mu.
func (m *limits) recordUsage(h engine.Event) {
	over := m.budget.Record(h.Task, h.Usage)
	m.used[h.Task] = h.Usage
	stop := m.stops[h.Task]
	cuts := stop != nil && over != nil && !h.Delivered
	if cuts || m.exhaustedBy == nil && m.budget.Exhausted() != nil {
		m.state.step(m.state.instant(), m.usedStep(h.Task, cuts))
	}
	if cuts {
		stop(over)
	}
	m.exhausted()
}

// usedStep returns the step in which the attempt at a task has used so much that something ends: the attempt itself if cuts.
func (m *limits) usedStep(task string, cuts bool) attempts.Step {
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
func (m *limits) settledStep(a engine.Attempt, used attempts.Usage) attempts.Step {
	made := attempts.Step{Kind: attempts.StepSettled, Task: a.Task.ID, Attempt: a.Number}
	if told, known := m.used[a.Task.ID]; known && (told.CostUSD > used.CostUSD || told.Uncached() > used.Uncached()) {
		made.Used = []attempts.TaskUsage{{Task: a.Task.ID, Usage: told}}
	}
	delete(m.used, a.Task.ID)
	return made
}

// exhausted reports whether a budget keeps anything more from being started, and tells that once. The caller holds mu.
func (m *limits) exhausted() bool {
	if m.exhaustedBy == nil {
		if m.exhaustedBy = m.budget.Exhausted(); m.exhaustedBy != nil {
			m.state.step(m.state.instant(), attempts.Step{Kind: attempts.StepExhausted})
		}
		if left := m.state.counts(); m.exhaustedBy != nil && left.Pending+left.Blocked > 0 {
			m.state.notify(Update{Kind: UpdateStopping, Text: m.exhaustedBy.Error() + "; nothing new is started"})
		}
	}
	return m.exhaustedBy != nil
}
