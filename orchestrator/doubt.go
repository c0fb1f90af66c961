package orchestrator

import "relay/orchestrator/words"

// doubt has a run that has completed everything say that some of it is proved by less than before.
func (s *Summary) doubt() {
	if s.Left == 0 && len(s.Doubtful) > 0 && (s.Reason == EpicComplete || s.Reason == NoRunnableTasks) {
		s.Reason, s.Why = EpicDoubtful, "tests of these prove less than before: "+words.Listed(s.Doubtful)
	}
}
