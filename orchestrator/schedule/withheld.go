package schedule

import "slices"

// Withhold takes task i, which must not be running, out of the run until Restore. Its dependants go on waiting.
func (s *Schedule) Withhold(i int) {
	if s.phase[i] != phaseReady && s.phase[i] != phaseWaiting && s.phase[i] != phasePostponed && s.phase[i] != phaseSetBack {
		return
	}
	s.ready.remove(i)
	s.postponed, s.setBack = without(s.postponed, i), without(s.setBack, i)
	delete(s.missing, i)
	s.setPhase(i, phaseGated)
	s.contention.letGo(i, s.tasks[i].Files)
}

// Restore takes task i back into the run that was gated or withheld. Its work may lack only the opinions of some reviewers.
func (s *Schedule) Restore(i int, missing []string) {
	switch {
	case s.phase[i] != phaseGated:
		return
	case !s.IsWanted(i):
		s.setPhase(i, phaseOutside)
		return
	}
	s.Failures.tasks[i] = failed{}
	s.setPhase(i, phaseWaiting)
	s.release(i)
	if s.phase[i] == phaseReady && missing != nil {
		s.AwaitReview(i, missing)
	}
}

// Hasten makes task i ready if it was postponed or set back.
func (s *Schedule) Hasten(i int) {
	if s.phase[i] != phasePostponed && s.phase[i] != phaseSetBack {
		return
	}
	s.postponed, s.setBack = without(s.postponed, i), without(s.setBack, i)
	s.setPhase(i, phaseReady)
	s.ready.add(i)
}

func without(list []int, i int) []int {
	return slices.DeleteFunc(list, func(k int) bool { return k == i })
}

// IsWanted reports whether task i is selected for this run.
func (s *Schedule) IsWanted(i int) bool { return s.wanted == nil || s.wanted[i] }
