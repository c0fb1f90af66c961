package schedule

import (
	"relay/attempts"
	"relay/orchestrator/verdict"
)

// AwaitReview makes task i ready again, whose work lacks only the opinions of some reviewers. Others rather
// avoid its files meanwhile.
func (s *Schedule) AwaitReview(i int, missing []string) {
	if s.missing == nil {
		s.missing = make(map[int][]string)
	}
	s.missing[i] = missing
	if s.phase[i] == phaseRunning {
		s.running--
	}
	s.setPhase(i, phaseReady)
	s.ready.add(i)
	s.contention.hold(i, s.tasks[i].Files)
}

// NextReview returns, of the tasks whose reviews could begin, the most urgent of those with the lowest rank, or -1.
func (s *Schedule) NextReview(able func(i int, names []string) (rank int, ok bool)) int {
	best, lowest := -1, 0
	for i, names := range s.missing {
		if s.phase[i] != phaseReady {
			continue
		}
		rank, ok := able(i, names)
		if ok && (best < 0 || rank < lowest || rank == lowest && s.ready.before(i, best)) {
			best, lowest = i, rank
		}
	}
	return best
}

// CountUnreviewed counts the tasks that are running or whose work waits for its review.
func (s *Schedule) CountUnreviewed() int {
	count := s.running
	for i := range s.missing {
		if s.phase[i] == phaseReady {
			count++
		}
	}
	return count
}

// MissingReviewers returns the reviewers whose opinions are all that the work on a task lacks; nil when it lacks more,
// or nothing.
func MissingReviewers(record attempts.TaskRecord) []string {
	last, ok := verdict.Previous(record)
	if !ok || !last.AwaitsReview() {
		return nil
	}
	var names []string
	for _, m := range last.Receipt.Review.Missing {
		names = append(names, m.Reviewer)
	}
	return names
}
