package decide

import (
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/each"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/schedule"
)

// Queue is the proved work that waits for its landing, in the order it became ready.
type Queue struct {
	state   *State
	waiting []Queued
}

// Queued is a proved attempt that waits for its landing, with what recording its end needs.
type Queued struct {
	engine.Verified
	Job     Job
	Record  attempts.TaskRecord
	Began   time.Duration // on the run's clock, as
	ready   time.Duration // is when it was proved
	checked time.Duration // how long its checks took
}

// Enqueue makes a proved attempt wait for its landing. Its worker is free then; the task still counts as running. The caller holds Mu.
func (q *Queue) Enqueue(c Queued, now limits.Instant) {
	made := provedStep(c.Attempt, c.Result, q.state.Redact)
	q.state.Step(now, made)
	c.ready, c.checked = now.Run, time.Duration(made.Checked)
	q.waiting = append(q.waiting, c)
	q.state.Notify(Update{Kind: Verified, Task: c.Attempt.Task.ID})
	if q.state.Plan != nil {
		q.state.Plan.Contention.AwaitLanding(c.Job.Index, c.Result.Receipt.FilesChanged)
	}
	q.state.Announce()
}

// landingPatience is how long a worker waits for a landing rather than take a task that is less urgent than those that
// wait for it. A task begun in the meantime keeps the worker for many minutes. It does not wait for work whose checks take longer.
const landingPatience = 5 * time.Second

// waitForLanding returns how long a free worker should rather wait than do task i: more than 0 if what lands next makes a more
// urgent task ready. The caller holds Mu.
func (q *Queue) waitForLanding(i int, now time.Duration) (rest time.Duration) {
	if q == nil {
		return 0
	}
	if q.state.O.Jobs == 1 && len(q.Due()) > 0 { // one job: one task after another
		return LongestWait
	}
	var soon []int
	for _, c := range q.Due() {
		if patience := c.ready + landingPatience - now; patience > 0 && c.checked < landingPatience {
			soon, rest = append(soon, c.Job.Index), patience
		}
	}
	if len(soon) == 0 || !q.state.Plan.Unblocks(soon, i) {
		return 0
	}
	return rest
}

// Together returns how many of what can land share one run of their checks first. The caller holds Mu.
func (q *Queue) Together(due []Queued) int {
	return schedule.LandTogether(each.Of(due, func(one Queued) time.Duration { return one.checked }), q.state.O.SlowChecks)
}

// Due returns what can land now, in the order it became ready. Work that could not land before goes first, and work that
// contends with such a task waits until that is done, so that no task loses twice over the same files. The caller holds Mu.
func (q *Queue) Due() []Queued {
	var first, then []Queued
	for _, c := range q.waiting {
		switch {
		case q.state.Plan.Contention.BlocksContested(c.Job.Index):
		case q.state.Plan.Contention.IsContested(c.Job.Index):
			first = append(first, c)
		default:
			then = append(then, c)
		}
	}
	return append(first, then...)
}

// Remove takes the work of tasks off the queue, whose landing is over. The caller holds Mu.
func (q *Queue) Remove(tasks []string) {
	q.state.Step(q.state.Instant(), attempts.Step{Kind: attempts.StepLanded, Tasks: tasks})
	q.waiting = slices.DeleteFunc(q.waiting, func(w Queued) bool {
		return slices.Contains(tasks, w.Attempt.Task.ID)
	})
}

// Next returns what can land now, and how many of the first are put together. The caller holds Mu.
func (q *Queue) Next() (due []Queued, together int) {
	if due = q.Due(); len(due) > 0 {
		together = q.Together(due)
		q.state.Step(q.state.Instant(), attempts.Step{Kind: attempts.StepJoined, Tasks: TasksOf(due), Together: together})
	}
	return due, together
}

// Split returns how many of what can land are put together next, when so many of the first have failed their checks together.
// The caller holds Mu.
func (q *Queue) Split(due []Queued, red int) (together int) {
	together = schedule.LandFewer(red)
	q.state.Step(q.state.Instant(), attempts.Step{Kind: attempts.StepSplit, Tasks: TasksOf(due[:red]), Together: together})
	return together
}

// Named returns the work of tasks that waits, in their order. The caller holds Mu.
func (q *Queue) Named(tasks []string) (found []Queued) {
	for _, id := range tasks {
		if at := slices.IndexFunc(q.waiting, func(c Queued) bool { return c.Attempt.Task.ID == id }); at >= 0 {
			found = append(found, q.waiting[at])
		}
	}
	return found
}

// Count returns how many wait. The caller holds Mu.
func (q *Queue) Count() int {
	if q == nil {
		return 0
	}
	return len(q.waiting)
}

// TasksOf names the tasks of a batch.
func TasksOf(batch []Queued) []string {
	return each.Of(batch, func(one Queued) string { return one.Attempt.Task.ID })
}
