package orchestrator

import (
	"relay/orchestrator/engine"
	"relay/runners"
)

// listen passes on what is heard from attempts.
func (r *run) listen(events <-chan engine.Event) {
	for e := range events {
		if r.o.Wire != nil {
			e = r.o.Wire.Event(e)
		}
		r.withLock(func() {
			switch e.Kind {
			case engine.KindUsage:
				r.recordUsage(e)
				return
			case engine.KindFault:
				r.pool.MarkSuspect(e.Runner, e.Task, r.instant())
				return
			default: // the others are progress
			}
			r.recordProgress(e)
			if e.Task == engine.WholeEpic {
				e.Task = "the epic"
			}
			r.tell(Update{Kind: UpdateKind(e.Kind), Task: e.Task, Text: e.Detail.Text})
		})
	}
}

// recordProgress takes a sign of life of an agent: its runner serves. The caller holds mu.
func (r *run) recordProgress(e engine.Event) {
	answered := e.Kind == engine.KindActivity && (e.Detail.Kind == runners.EventText || e.Detail.Kind == runners.EventTool)
	if answered && r.pool.NoteActivity(e.Runner, e.Task, r.instant()) {
		r.announce()
	}
}
