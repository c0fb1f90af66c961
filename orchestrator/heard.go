package orchestrator

import "relay/runners"

// listen passes on what is heard from attempts.
func (n *night) listen(heard <-chan Heard) {
	for h := range heard {
		n.locked(func() {
			switch h.Kind {
			case UpdateUsage:
				n.recordUsage(h)
				return
			case UpdateFault:
				n.pool.Suspect(h.Runner, h.Task, n.moment())
				return
			}
			n.hears(h)
			if h.Task == wholeEpic {
				h.Task = "the epic"
			}
			n.tell(Update{Kind: h.Kind, Task: h.Task, Text: h.Event.Text})
		})
	}
}

// hears takes a sign of life of an agent: its runner serves. The caller holds mu.
func (n *night) hears(h Heard) {
	said := h.Kind == UpdateActivity && (h.Event.Kind == runners.EventText || h.Event.Kind == runners.EventTool)
	if said && n.pool.Heard(h.Runner, h.Task, n.moment()) {
		n.announce()
	}
}
