// Package schedule decides in which order a run starts tasks, which tasks may run at once, and how long an epic will still
// take. It is pure: no clock, no process, no disk.
package schedule

import (
	"iter"
	"slices"

	"relay/attempts"
	"relay/epic"
)

// Schedule decides which task a run starts next. It reads no clock, process or disk: its state is a function of the
// ledger it was made from and of the calls since.
type Schedule struct {
	graph      *epic.Graph
	tasks      []*epic.Task
	phase      []phase
	waiting    []int // by task: how many of its dependencies are not completed
	ready      readyQueue
	open       int // how many tasks are in phaseReady
	running    int
	contention contention
	missing    map[int][]string // by task whose work lacks only reviews: the reviewers
	unselected map[int]bool     // tasks not selected for this run that land all the same, because a killed run had verified them

	postponed []int        // in phasePostponed
	retried   map[int]bool // tasks that were postponed and made ready again

	Failures failures // in this run
	setBack  []int    // in phaseSetBack

	wanted []bool // by task: it is selected for this run; nil: all are
}

// phase is the state of a task in this run.
type phase uint8

const (
	phaseWaiting phase = iota // a dependency is not completed
	phaseReady
	phaseRunning
	phaseCompleted
	phaseGated
	phaseOutside   // not selected for this run
	phasePostponed // one of its checks cannot run; tried again when nothing else is left
	phaseSetBack   // it has failed; tried again when something has landed, or nothing else is left
)

// New makes the schedule of what the ledger says is left of an epic. wanted limits the run to some tasks, by their
// number in the graph; nil means all.
func New(e *epic.Epic, g *epic.Graph, l *attempts.Ledger, wanted []bool) *Schedule {
	s := &Schedule{
		graph: g, tasks: make([]*epic.Task, g.Len()), phase: make([]phase, g.Len()), waiting: make([]int, g.Len()),
		Failures:   failures{tasks: make([]failed, g.Len()), edgeless: g.Len() > 1},
		unselected: map[int]bool{}, retried: map[int]bool{}, wanted: wanted,
	}
	for i := range e.Tasks {
		if at, ok := g.Index(e.Tasks[i].ID); ok {
			s.tasks[at] = &e.Tasks[i]
		}
	}
	for i := range s.phase {
		s.phase[i] = startPhase(l.Tasks[g.ID(i)], wanted == nil || wanted[i])
	}
	s.ready = newReadyQueue(g, s.tasks)
	for i := range s.phase {
		s.Failures.edgeless = s.Failures.edgeless && len(g.Deps(i)) == 0
		for _, d := range g.Deps(i) {
			if s.phase[d] != phaseCompleted {
				s.waiting[i]++
			}
		}
		s.release(i)
	}
	s.recall(l)
	return s
}

// recall takes over what the ledger says of conflicts and of works that wait for their review.
func (s *Schedule) recall(l *attempts.Ledger) {
	lost := map[int][]string{}
	for i := range s.phase {
		if rec := l.Tasks[s.graph.ID(i)]; rec != nil {
			if files := ContestedFiles(*rec); len(files) > 0 {
				lost[i] = files
			}
		}
	}
	s.contention = newContention(lost)
	for i := range s.phase {
		if rec := l.Tasks[s.graph.ID(i)]; rec != nil && s.phase[i] == phaseReady {
			if lacking := MissingReviewers(*rec); lacking != nil {
				s.AwaitReview(i, lacking)
			}
		}
	}
}

func startPhase(rec *attempts.TaskRecord, wanted bool) phase {
	switch {
	case rec != nil && rec.Completed:
		return phaseCompleted
	case rec != nil && rec.Gate != nil:
		return phaseGated
	case !wanted:
		return phaseOutside
	}
	return phaseWaiting
}

// release makes task i ready if it waits and all its dependencies are completed.
func (s *Schedule) release(i int) {
	if s.phase[i] == phaseWaiting && s.waiting[i] == 0 {
		s.setPhase(i, phaseReady)
		s.ready.add(i)
	}
}

// setPhase moves task i to a phase.
func (s *Schedule) setPhase(i int, to phase) {
	if s.phase[i] == phaseReady {
		s.open--
	}
	if s.phase[i] = to; to == phaseReady {
		s.open++
	}
}

// Next returns the most urgent ready task that fits, or -1, and rather one that shares no declared files with a running
// one. It does not start it. Those that have failed come after the others.
func (s *Schedule) Next(fits func(i int) bool) int {
	for round, rounds := 0, 1; round < rounds; round++ {
		i := nextOf(s, func(i int) bool {
			own := s.Failures.round(i, len(s.graph.Dependants(i)) > 0)
			rounds = max(rounds, own+1)
			return own == round && fits(i)
		})
		if i >= 0 {
			return i
		}
	}
	return -1
}

// nextOf is Next for one round.
func nextOf(s *Schedule, fits func(i int) bool) int {
	best, shared := -1, 0
	for i := range s.ready.all() {
		switch {
		case !fits(i) || s.MustWait(i):
		case !s.contention.shares(i, s.tasks[i].Files):
			return i
		default:
			if best < 0 {
				best = i
			}
			if shared++; shared == mostCompared {
				return best
			}
		}
	}
	return best
}

// Start counts task i as running.
func (s *Schedule) Start(i int) {
	s.ready.remove(i)
	if s.phase[i] == phaseOutside {
		s.unselected[i] = true
	}
	s.Failures.begin(i)
	s.setPhase(i, phaseRunning)
	s.running++
	s.contention.hold(i, s.tasks[i].Files)
}

// Unblocks reports whether a task more urgent than task `than` can start as soon as those of the given tasks that are
// running are completed.
func (s *Schedule) Unblocks(tasks []int, than int) bool {
	missing := make(map[int]int) // dependencies, besides these
	for _, i := range tasks {
		if s.phase[i] != phaseRunning {
			continue
		}
		for _, d := range s.graph.Dependants(i) {
			if s.phase[d] != phaseWaiting || !s.ready.before(d, than) {
				continue
			}
			if _, met := missing[d]; !met {
				missing[d] = s.waiting[d]
			}
			if missing[d]--; missing[d] == 0 {
				return true
			}
		}
	}
	return false
}

// Complete ends task i and releases the tasks that waited for nothing else.
func (s *Schedule) Complete(i int) {
	s.stop(i, phaseCompleted)
	s.Failures.completed()
	s.setBack = slices.DeleteFunc(s.setBack, func(k int) bool {
		late := s.Failures.IsLate(k)
		if !late {
			retry(s, k)
		}
		return !late
	})
	for _, d := range s.graph.Dependants(i) {
		s.waiting[d]--
		s.release(d)
	}
}

// Gate takes task i out of the run. Its dependants go on waiting.
func (s *Schedule) Gate(i int) { s.stop(i, phaseGated) }

// Requeue ends an attempt at task i that leaves it to be tried again: it is ready, or outside if it was not selected.
func (s *Schedule) Requeue(i int) {
	if s.unselected[i] {
		s.stop(i, phaseOutside)
		return
	}
	s.stop(i, phaseReady)
	s.ready.add(i)
}

// SetBack ends a failed attempt at task i. It is tried again when something has landed since the attempt began, or when nothing else is
// left: what it lacks may be what another task makes. Lacks says that its failure looks like that.
func (s *Schedule) SetBack(i int, lacks bool) {
	s.Failures.fail(i, lacks, s.running > 1)
	s.Requeue(i)
	if s.phase[i] == phaseReady && (!s.Failures.Moved(i) || s.Failures.IsLate(i)) {
		s.ready.remove(i)
		s.setPhase(i, phaseSetBack)
		s.setBack = append(s.setBack, i)
	}
}

// Postpone ends an attempt at task i and keeps the task from being ready until RetryPostponed.
func (s *Schedule) Postpone(i int) {
	s.Requeue(i)
	if s.phase[i] == phaseReady {
		s.ready.remove(i)
		s.setPhase(i, phasePostponed)
		s.postponed = append(s.postponed, i)
	}
}

// RetryPostponed makes all tasks that were set back ready again or, if there are none and the held ones shall be, all postponed ones. It
// reports whether there were any.
func (s *Schedule) RetryPostponed(held bool) (any bool) {
	list := s.setBack
	if s.setBack = nil; len(list) == 0 && held {
		list, s.postponed = s.postponed, nil
	}
	for _, i := range list {
		retry(s, i)
	}
	return len(list) > 0
}

// retry makes task i ready again, which was set back or postponed.
func retry(s *Schedule, i int) {
	s.retried[i] = s.retried[i] || s.phase[i] == phasePostponed
	s.setPhase(i, phaseReady)
	s.ready.add(i)
}

// stop moves task i to a phase other than running.
func (s *Schedule) stop(i int, to phase) {
	if s.phase[i] == phaseRunning {
		s.running--
		s.contention.letGo(i, s.tasks[i].Files)
	}
	delete(s.missing, i)
	s.setPhase(i, to)
}

// Task returns task i of the graph.
func (s *Schedule) Task(i int) *epic.Task { return s.tasks[i] }

// IsRunning reports whether an attempt at task i is under way or waits for its landing.
func (s *Schedule) IsRunning(i int) bool { return s.phase[i] == phaseRunning }

// CountRunning returns how many tasks IsRunning holds for.
func (s *Schedule) CountRunning() int { return s.running }

// CountReady returns how many tasks could start now, or as soon as no other holds their files.
func (s *Schedule) CountReady() int { return s.open }

// Ready yields the tasks that could start now, the most urgent first.
func (s *Schedule) Ready() iter.Seq[int] { return s.ready.all() }

// IsAlone reports whether nothing besides running task i is running, ready or postponed, and whether moreover no task
// waits for it, so that it is the last of the run.
func (s *Schedule) IsAlone(i int) (alone, last bool) {
	alone = s.running <= 1 && s.open+len(s.setBack)+len(s.postponed) == 0
	waits := func(d int) bool { return s.phase[d] == phaseWaiting }
	return alone, alone && !slices.ContainsFunc(s.graph.Dependants(i), waits)
}

// MissingReviewers returns the reviewers whose opinions are all that the work on task i lacks; nil when it lacks
// something else.
func (s *Schedule) MissingReviewers(i int) []string { return s.missing[i] }

// WasPostponed reports whether RetryPostponed has made task i ready again.
func (s *Schedule) WasPostponed(i int) bool { return s.retried[i] }

// Select marks the named tasks and all that they depend on, by number. It returns nil, which means all, when none is
// named, and a *RefusedError for a name that no task has.
func Select(g *epic.Graph, ids []string) ([]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted := make([]bool, g.Len())
	var todo []int
	for _, id := range ids {
		i, ok := g.Index(id)
		if !ok {
			return nil, &attempts.RefusedError{Reason: "there is no task " + id + " in this epic", Hint: "relay status --verbose lists the tasks"}
		}
		todo = append(todo, i)
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !wanted[i] {
			wanted[i] = true
			todo = append(todo, g.Deps(i)...)
		}
	}
	return wanted, nil
}
