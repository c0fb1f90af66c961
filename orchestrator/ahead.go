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
func (r *run) choose(now clock.Instant) (i int, runner string) {
	able := func(i int, names []string) (int, bool) { return r.pool.Review(r.plan.Task(i).ID, names, now) }
	if i := r.plan.NextReview(able); i >= 0 {
		return i, r.reviewedRunner(i, now)
	}
	if !r.pool.AllOpen("", r.wanted(), now) {
		return -1, ""
	}
	for _, rank := range r.pool.Ranks() {
		i = r.plan.Next(func(i int) bool {
			if r.plan.MissingReviewers(i) != nil {
				return false
			}
			name, its, ok := r.pool.Pick(r.plan.Task(i).ID, r.plan.Task(i).Runner, now)
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
func (r *run) wanted() []string {
	if r.pool.PanelOut() || r.o.Isolation != engine.IsolationWorktree || r.plan.CountUnreviewed() >= tasksPerJobUnreviewed*r.o.Jobs {
		return r.pool.Panel
	}
	return nil
}

// reviewedRunner is whom findings go to when a review is all that a task lacks: who did the work, if that can be.
func (r *run) reviewedRunner(i int, now clock.Instant) string {
	task := r.plan.Task(i)
	last := ""
	if past := r.store.Task(task.ID).Attempts; len(past) > 0 {
		last = past[len(past)-1].Runner
	}
	if r.pool.Open(last, task.ID, now) {
		return last
	}
	other, _, _ := r.pool.Pick(task.ID, task.Runner, now)
	return text.FirstOf(other, last)
}
