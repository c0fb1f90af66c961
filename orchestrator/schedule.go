package orchestrator

import (
	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/words"
)

// schedule decides which task goes next. It knows no clock, no process and no disk: its state is a function of the
// ledger it was made from and the calls since.
type schedule struct {
	graph   *epic.Graph
	tasks   []*epic.Task
	phase   []phase
	waiting []int // dependencies not completed yet
	ready   readyTasks
	running int
	leases  leases
	awaits  map[int][]string // tasks whose work lacks the opinions of these reviewers, and nothing else
	unasked map[int]bool     // tasks that are outside of this run, and land all the same: a killed run had proved them

	postponed  []int        // in phasePostponed
	askedAgain map[int]bool // tasks that were postponed, and are not any more

	contested map[int][]string // by task: files over which it could not land in earlier runs
}

// phase is where a task stands in this run.
type phase uint8

const (
	phaseWaiting phase = iota // some dependency is not completed
	phaseReady
	phaseRunning
	phaseCompleted
	phaseGated
	phaseOutside   // not selected for this run
	phasePostponed // a check of it cannot run, see [lane.holdBack]
)

// newSchedule starts from the ledger. wanted limits the run to some tasks; nil means all.
func newSchedule(e *epic.Epic, g *epic.Graph, l *attempts.Ledger, wanted []bool) *schedule {
	s := &schedule{graph: g, tasks: make([]*epic.Task, g.Len()), phase: make([]phase, g.Len()), waiting: make([]int, g.Len()), contested: map[int][]string{}, unasked: map[int]bool{}, askedAgain: map[int]bool{}}
	for i := range e.Tasks {
		if at, ok := g.Index(e.Tasks[i].ID); ok {
			s.tasks[at] = &e.Tasks[i]
		}
	}
	for i := range s.phase {
		s.phase[i] = startPhase(l.Tasks[g.ID(i)], wanted == nil || wanted[i])
	}
	s.ready = newReadyTasks(g, s.tasks)
	for i := range s.phase {
		for _, d := range g.Deps(i) {
			if s.phase[d] != phaseCompleted {
				s.waiting[i]++
			}
		}
		s.release(i)
	}
	for i := range s.phase {
		rec := l.Tasks[g.ID(i)]
		if rec == nil {
			continue
		}
		if files := contested(*rec); len(files) > 0 {
			s.contested[i] = files
		}
		if s.phase[i] == phaseReady {
			if lacking := lacking(*rec); lacking != nil {
				s.awaitsReview(i, lacking)
			}
		}
	}
	return s
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

// release makes a waiting task ready when nothing holds it back.
func (s *schedule) release(i int) {
	if s.phase[i] == phaseWaiting && s.waiting[i] == 0 {
		s.phase[i] = phaseReady
		s.ready.add(i)
	}
}

// next takes the most urgent ready task that fits and whose files nobody changes now, or returns -1. The task counts as
// running from now on.
func (s *schedule) next(fits func(i int) bool) int {
	i := s.best(fits)
	if i >= 0 {
		s.begun(i)
	}
	return i
}

// best is what next would take.
func (s *schedule) best(fits func(i int) bool) int {
	for i := s.ready.first(); i >= 0; {
		if fits(i) {
			if !s.hold(i) {
				return i
			}
			s.ready.remove(i)
		}
		next := s.ready.after(i)
		if k := s.pass(i); k >= 0 && (next < 0 || s.ready.before(k, next)) {
			next = k
		}
		i = next
	}
	return -1
}

// begun counts a task as running.
func (s *schedule) begun(i int) {
	s.ready.remove(i)
	if s.phase[i] == phaseOutside {
		s.unasked[i] = true
	}
	s.phase[i] = phaseRunning
	s.running++
	s.leases.take(i)
}

// promises reports that something more urgent than another task can start as soon as those of the given tasks that are
// running are completed.
func (s *schedule) promises(tasks []int, than int) bool {
	missing := make(map[int]int) // dependencies, besides these
	for _, i := range tasks {
		if s.phase[i] != phaseRunning {
			continue
		}
		for _, k := range s.leases.waiters(i) {
			if s.ready.before(k, than) {
				return true
			}
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

// completed releases what waited for task i.
func (s *schedule) completed(i int) {
	s.leave(i, phaseCompleted)
	for _, d := range s.graph.Dependants(i) {
		s.waiting[d]--
		s.release(d)
	}
}

// gated takes task i out of the run; its dependants stay where they are.
func (s *schedule) gated(i int) { s.leave(i, phaseGated) }

// again puts task i back among the ready ones, or to where nobody has asked for it.
func (s *schedule) again(i int) {
	if s.unasked[i] {
		s.leave(i, phaseOutside)
		return
	}
	s.leave(i, phaseReady)
	s.ready.add(i)
}

func (s *schedule) leave(i int, to phase) {
	if s.phase[i] == phaseRunning {
		s.running--
		s.giveBack(i)
	}
	delete(s.awaits, i)
	s.phase[i] = to
}

// selection marks the named tasks and everything they depend on. It returns nil, for all, when none is named.
func selection(g *epic.Graph, ids []string) ([]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	wanted := make([]bool, g.Len())
	var todo []int
	for _, id := range ids {
		i, ok := g.Index(id)
		if !ok {
			return nil, &words.RefusedError{Reason: "there is no task " + id + " in this epic", Hint: "relay status --verbose lists the tasks"}
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
