package orchestrator

import (
	"relay/orchestrator/engine"
)

// recordUsage records what an agent or a reviewer has used so far, and cancels an agent that exceeds a budget. A review of
// delivered work counts but is not cancelled, as that would waste verified work. The caller holds mu.
func (m *limits) recordUsage(h engine.Event) {
	over := m.budget.Record(h.Task, h.Usage)
	if stop := m.stops[h.Task]; stop != nil && over != nil && !h.Delivered {
		stop(over)
	}
	m.exhausted()
}

// exhausted reports whether a budget keeps anything more from being started, and tells that once. The caller holds mu.
func (m *limits) exhausted() bool {
	if m.exhaustedBy == nil {
		m.exhaustedBy = m.budget.Exhausted()
		if left := m.state.counts(); m.exhaustedBy != nil && left.Pending+left.Blocked > 0 {
			m.state.notify(Update{Kind: UpdateStopping, Text: m.exhaustedBy.Error() + "; nothing new is started"})
		}
	}
	return m.exhaustedBy != nil
}
