package orchestrator

import (
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/text"
)

// How far agents may go on while a reviewer is not to be asked: each job has one task under way or done, and one more
// ahead of it. Work that waits for its review grows old, and who reads it in the morning has more to undo.
const tasksPerJobUnreviewed = 2

// choose returns the task to start now, and its runner: "" when no runner is needed. A review that can be held goes
// before new work. The caller holds mu.
func (n *run) choose(now clock.Instant) (i int, runner string) {
	able := func(i int, names []string) (int, bool) { return n.pool.Review(n.plan.Task(i).ID, names, now) }
	if i := n.plan.NextReview(able); i >= 0 {
		return i, n.reviewedRunner(i, now)
	}
	if !n.pool.AllOpen("", n.wanted(), now) {
		return -1, ""
	}
	for _, rank := range n.pool.Ranks() {
		i = n.plan.Next(func(i int) bool {
			if n.plan.MissingReviewers(i) != nil {
				return false
			}
			name, its, ok := n.pool.Pick(n.plan.Task(i).ID, n.plan.Task(i).Runner, now)
			runner = name
			return ok && its == rank
		})
		if i >= 0 {
			return i, runner
		}
	}
	return -1, ""
}

// wanted are the reviewers without whom no agent begins new work: none as long as what waits for its review is little and
// in nobody's way, if all of them can be asked in this run. The caller holds mu.
func (n *run) wanted() []string {
	if n.pool.PanelOut() || n.o.Isolation != engine.IsolationWorktree || n.plan.CountUnreviewed() >= tasksPerJobUnreviewed*n.o.Jobs {
		return n.pool.Panel
	}
	return nil
}

// reviewedRunner is whom findings go to when a review is all that a task lacks: who did the work, if that can be.
func (n *run) reviewedRunner(i int, now clock.Instant) string {
	task := n.plan.Task(i)
	last := ""
	if past := n.store.Task(task.ID).Attempts; len(past) > 0 {
		last = past[len(past)-1].Runner
	}
	if n.pool.Open(last, task.ID, now) {
		return last
	}
	other, _, _ := n.pool.Pick(task.ID, task.Runner, now)
	return text.FirstOf(other, last)
}
