package orchestrator

import "slices"

// How far agents may go on while a reviewer is not to be asked: each job has one task under way or done, and one more
// ahead of it. Work that waits for its review grows old, and who reads it in the morning has more to undo.
const tasksPerJobUnreviewed = 2

// choose returns the task to start now, and its runner: "" when no runner is needed. A review that can be held goes
// before new work. The caller holds mu.
func (n *night) choose(now moment) (i int, runner string) {
	if i := n.plan.reviewable(func(names []string) bool { return n.pool.allOpen(names, now) }); i >= 0 {
		return i, n.reviewedRunner(i, now)
	}
	if !n.pool.allOpen(n.wanted(), now) {
		return -1, ""
	}
	standard, any := n.pool.pick("", now)
	i = n.plan.best(func(i int) bool {
		own := n.plan.tasks[i].Runner
		switch {
		case n.plan.awaits[i] != nil:
			return false
		case own == "":
			runner = standard
			return any
		}
		var ok bool
		runner, ok = n.pool.pick(own, now)
		return ok
	})
	return i, runner
}

// wanted are the reviewers without whom no agent begins new work: none as long as what waits for its review is little and
// in nobody's way, if all of them can be asked in this run. The caller holds mu.
func (n *night) wanted() []string {
	needs := n.pool.needs
	out := slices.ContainsFunc(needs, func(name string) bool { return n.pool.member(name).out })
	if out || n.o.Isolation != IsolationWorktree || n.plan.unreviewed() >= tasksPerJobUnreviewed*n.o.Jobs {
		return needs
	}
	return nil
}

// reviewedRunner is whom findings go to when a review is all that a task lacks: who did the work, if that can be.
func (n *night) reviewedRunner(i int, now moment) string {
	task := n.plan.tasks[i]
	last := ""
	if past := n.store.Task(task.ID).Attempts; len(past) > 0 {
		last = past[len(past)-1].Runner
	}
	if n.pool.open(last, now) {
		return last
	}
	other, _ := n.pool.pick(task.Runner, now)
	return firstOf(other, last)
}

// awaitsReview puts a task back among the ready ones whose work lacks nothing but the opinion of some reviewers. It keeps
// its files: others would change them meanwhile.
func (s *schedule) awaitsReview(i int, missing []string) {
	if s.awaits == nil {
		s.awaits = make(map[int][]string)
	}
	s.awaits[i] = missing
	if s.phase[i] == phaseRunning {
		s.running--
	}
	s.phase[i] = phaseReady
	s.ready.add(i)
	s.leases.take(i)
}

// reviewable is the most urgent task that could begin with its review, or -1.
func (s *schedule) reviewable(able func(names []string) bool) int {
	best := -1
	for i, names := range s.awaits {
		if s.phase[i] == phaseReady && able(names) && (best < 0 || s.ready.before(i, best)) {
			best = i
		}
	}
	return best
}

// unreviewed counts the tasks that agents are at work on, or have done work for that waits for its review.
func (s *schedule) unreviewed() int {
	count := s.running
	for i := range s.awaits {
		if s.phase[i] == phaseReady {
			count++
		}
	}
	return count
}
