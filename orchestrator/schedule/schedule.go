// Package schedule decides in which order a run starts tasks, which tasks may run at once, and how long an epic will still
// take. It is pure: no clock, no process, no disk.
package schedule

import (
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/verdict"
)

// Schedule decides which task a run starts next. It reads no clock, process or disk: its state is a function of the
// ledger it was made from and of the calls since.
type Schedule struct {
	Ready      readyQueue // the tasks in phaseReady
	Failures   failures   // in this run
	Contention contention

	graph   *epic.Graph
	tasks   []*epic.Task
	wanted  []bool // by task: it is selected for this run; nil: all are
	phase   []phase
	count   [phases]int      // how many tasks are in each phase
	waiting []int            // by task: how many of its dependencies are not completed
	missing map[int][]string // by task whose work lacks only reviews: the reviewers
	retried map[int]bool     // tasks that were postponed and made ready again
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
	phases
)

// New makes the schedule of what the ledger says is left of an epic. wanted limits the run to some tasks, by their
// number in the graph; nil means all.
func New(e *epic.Epic, g *epic.Graph, l *attempts.Ledger, wanted []bool) *Schedule {
	n := g.Len()
	s := &Schedule{
		graph: g, tasks: make([]*epic.Task, n), wanted: wanted, phase: make([]phase, n), waiting: make([]int, n),
		Failures: failures{tasks: make([]failed, n), edgeless: n > 1}, missing: map[int][]string{}, retried: map[int]bool{},
	}
	s.count[phaseWaiting] = n
	for i := range e.Tasks {
		if at, ok := g.Index(e.Tasks[i].ID); ok {
			s.tasks[at] = &e.Tasks[i]
		}
	}
	start, lost := make([]phase, n), map[int][]string{}
	for i := range start {
		rec := l.Record(g.ID(i))
		start[i] = startPhase(rec, s.IsWanted(i))
		if files := ContestedFiles(*rec); len(files) > 0 {
			lost[i] = files
		}
	}
	s.Ready, s.Contention = newReadyQueue(g, s.tasks), newContention(s.tasks, lost)
	for i := range start {
		s.Failures.edgeless = s.Failures.edgeless && len(g.Deps(i)) == 0
		for _, d := range g.Deps(i) {
			if start[d] != phaseCompleted {
				s.waiting[i]++
			}
		}
		s.setPhase(i, start[i])
		if lacking := MissingReviewers(*l.Record(g.ID(i))); lacking != nil && s.phase[i] == phaseReady {
			s.AwaitReview(i, lacking)
		}
	}
	return s
}

func startPhase(rec *attempts.TaskRecord, wanted bool) phase {
	switch {
	case rec.Completed:
		return phaseCompleted
	case rec.Gate != nil:
		return phaseGated
	case !wanted:
		return phaseOutside
	}
	return phaseWaiting
}

// setPhase moves task i to a phase. One that shall wait is ready if all its dependencies are completed.
func (s *Schedule) setPhase(i int, to phase) {
	if to == phaseWaiting && s.waiting[i] == 0 {
		to = phaseReady
	}
	s.Ready.remove(i)
	s.count[s.phase[i]]--
	s.count[to]++
	if s.phase[i] = to; to == phaseReady {
		s.Ready.add(i)
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
	for i := range s.Ready.All() {
		switch {
		case !fits(i) || s.Contention.MustWait(i):
		case !s.Contention.shares(i):
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
	s.Failures.begin(i)
	s.setPhase(i, phaseRunning)
	s.Contention.hold(i, true)
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
			if s.phase[d] != phaseWaiting || !s.Ready.before(d, than) {
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

// Complete ends task i, and makes the tasks ready that waited for nothing else.
func (s *Schedule) Complete(i int) {
	s.stop(i, phaseCompleted)
	s.Failures.completed()
	if s.count[phaseSetBack] > 0 {
		for k, p := range s.phase {
			if p == phaseSetBack && !s.Failures.IsLate(k) {
				s.setPhase(k, phaseReady)
			}
		}
	}
	for _, d := range s.graph.Dependants(i) {
		if s.waiting[d]--; s.phase[d] == phaseWaiting {
			s.setPhase(d, phaseWaiting)
		}
	}
}

// Gate takes task i out of the run. Its dependants go on waiting.
func (s *Schedule) Gate(i int) { s.stop(i, phaseGated) }

// Withhold gates task i, unless it is running or not to be done.
func (s *Schedule) Withhold(i int) {
	switch s.phase[i] {
	case phaseReady, phaseWaiting, phasePostponed, phaseSetBack:
		s.Gate(i)
	default:
	}
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
	if s.setPhase(i, phaseWaiting); s.phase[i] == phaseReady && missing != nil {
		s.AwaitReview(i, missing)
	}
}

// Requeue ends an attempt at task i that leaves it to be tried again: it is ready, or outside if it was not selected, and was only
// running because a killed run had verified its work.
func (s *Schedule) Requeue(i int) {
	if s.IsWanted(i) {
		s.stop(i, phaseReady)
	} else {
		s.stop(i, phaseOutside)
	}
}

// SetBack ends a failed attempt at task i. It is tried again when something has landed since the attempt began, or when nothing else is
// left: what it lacks may be what another task makes. Lacks says that its failure looks like that.
func (s *Schedule) SetBack(i int, lacks bool) {
	s.Failures.fail(i, lacks, s.CountRunning() > 1)
	s.Requeue(i)
	if s.phase[i] == phaseReady && (!s.Failures.Moved(i) || s.Failures.IsLate(i)) {
		s.setPhase(i, phaseSetBack)
	}
}

// Postpone ends an attempt at task i and keeps the task from being ready until RetryPostponed.
func (s *Schedule) Postpone(i int) {
	if s.Requeue(i); s.phase[i] == phaseReady {
		s.setPhase(i, phasePostponed)
	}
}

// RetryPostponed makes all tasks that were set back ready again or, if there are none and the held ones shall be, all postponed ones. It
// reports whether there were any.
func (s *Schedule) RetryPostponed(held bool) (any bool) {
	from := phaseSetBack
	if s.count[from] == 0 && held {
		from = phasePostponed
	}
	for i, p := range s.phase {
		if p == from {
			any, s.retried[i] = true, s.retried[i] || p == phasePostponed
			s.setPhase(i, phaseReady)
		}
	}
	return any
}

// WasPostponed reports whether RetryPostponed has made task i ready again.
func (s *Schedule) WasPostponed(i int) bool { return s.retried[i] }

// Hasten makes task i ready if it was postponed or set back.
func (s *Schedule) Hasten(i int) {
	if s.phase[i] == phasePostponed || s.phase[i] == phaseSetBack {
		s.setPhase(i, phaseReady)
	}
}

// stop moves task i to a phase other than running.
func (s *Schedule) stop(i int, to phase) {
	delete(s.missing, i)
	s.setPhase(i, to)
	s.Contention.letGo(i)
}

// Task returns task i of the graph.
func (s *Schedule) Task(i int) *epic.Task { return s.tasks[i] }

// IsRunning reports whether an attempt at task i is under way or waits for its landing.
func (s *Schedule) IsRunning(i int) bool { return s.phase[i] == phaseRunning }

// CountRunning returns how many tasks IsRunning holds for.
func (s *Schedule) CountRunning() int { return s.count[phaseRunning] }

// IsWanted reports whether task i is selected for this run.
func (s *Schedule) IsWanted(i int) bool { return s.wanted == nil || s.wanted[i] }

// IsAlone reports whether nothing besides running task i is running, ready or postponed, and whether moreover no task
// waits for it, so that it is the last of the run.
func (s *Schedule) IsAlone(i int) (alone, last bool) {
	alone = s.CountRunning() <= 1 && s.count[phaseReady]+s.count[phaseSetBack]+s.count[phasePostponed] == 0
	waits := func(d int) bool { return s.phase[d] == phaseWaiting }
	return alone, alone && !slices.ContainsFunc(s.graph.Dependants(i), waits)
}

// AddContested notes all files that conflicted when work on task i was to land. In a plan without dependencies tasks run one at a time
// once two have conflicted in a file: others may change it, too.
func (s *Schedule) AddContested(i int, files []string) {
	if s.Contention.lose(i, files) {
		if f := &s.Failures; f.edgeless && f.width.most != 1 {
			f.width.narrow()
		}
	}
}

// AwaitReview makes task i ready again, whose work lacks only the opinions of some reviewers. Others rather
// avoid its files meanwhile.
func (s *Schedule) AwaitReview(i int, missing []string) {
	s.missing[i] = missing
	s.setPhase(i, phaseReady)
	s.Contention.hold(i, false)
}

// NextReview returns, of the tasks whose reviews could begin, the most urgent of those with the lowest rank, or -1.
func (s *Schedule) NextReview(able func(i int, names []string) (rank int, ok bool)) int {
	best, lowest := -1, 0
	for i, names := range s.missing {
		if s.phase[i] != phaseReady {
			continue
		}
		rank, ok := able(i, names)
		if ok && (best < 0 || rank < lowest || rank == lowest && s.Ready.before(i, best)) {
			best, lowest = i, rank
		}
	}
	return best
}

// CountUnreviewed counts the tasks that are running or whose work waits for its review.
func (s *Schedule) CountUnreviewed() int { return len(s.Contention.holders) }

// MissingReviewers returns the reviewers whose opinions are all that the work on task i lacks; nil when it lacks
// something else.
func (s *Schedule) MissingReviewers(i int) []string { return s.missing[i] }

// MissingReviewers returns the reviewers whose opinions are all that the work on a task lacks; nil when it lacks more,
// or nothing.
func MissingReviewers(record attempts.TaskRecord) []string {
	last, ok := verdict.Previous(record)
	if !ok || !last.AwaitsReview() {
		return nil
	}
	return each.Of(last.Receipt.Review.Missing, func(m attempts.Missing) string { return m.Reviewer })
}

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
