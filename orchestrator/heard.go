package orchestrator

import (
	"relay/orchestrator/engine"
	"relay/runners"
)

// listen passes on what is heard from attempts.
func (n *run) listen(heard <-chan engine.Event) {
	for h := range heard {
		if n.o.Wire != nil {
			h = n.o.Wire.Event(h)
		}
		n.withLock(func() {
			switch h.Kind {
			case engine.KindUsage:
				n.recordUsage(h)
				return
			case engine.KindFault:
				n.pool.Suspect(h.Runner, h.Task, n.instant())
				return
			}
			n.recordProgress(h)
			if h.Task == engine.WholeEpic {
				h.Task = "the epic"
			}
			n.tell(Update{Kind: UpdateKind(h.Kind), Task: h.Task, Text: h.Detail.Text})
		})
	}
}

// recordProgress takes a sign of life of an agent: its runner serves. The caller holds mu.
func (n *run) recordProgress(h engine.Event) {
	said := h.Kind == engine.KindActivity && (h.Detail.Kind == runners.EventText || h.Detail.Kind == runners.EventTool)
	if said && n.pool.Heard(h.Runner, h.Task, n.instant()) {
		n.announce()
	}
}
