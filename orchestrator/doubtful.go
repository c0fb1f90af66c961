package orchestrator

import (
	"relay/attempts"
	"relay/orchestrator/text"
)

// doubtful returns the tasks of a selection that are completed with tests that prove less than before.
func doubtful(o *Options, l *attempts.Ledger, wanted []bool) (ids []string) {
	for i := range o.Graph.Len() {
		id := o.Graph.ID(i)
		if rec := l.Tasks[id]; (wanted == nil || wanted[i]) && rec != nil && len(rec.Doubtful()) > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// noteDoubtful changes the reason of a run that has completed everything if tests of some tasks were weakened.
func (s *Summary) noteDoubtful() {
	if s.Left == 0 && len(s.Doubtful) > 0 && (s.Reason == EpicComplete || s.Reason == NoRunnableTasks) {
		s.Reason, s.Why = EpicDoubtful, "tests of these were weakened: "+text.Listed(s.Doubtful)
	}
}
