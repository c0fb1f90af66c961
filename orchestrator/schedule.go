package orchestrator

import (
	"container/heap"
	"slices"

	"relay/attempts"
	"relay/epic"
)

// schedule decides which task goes next. It knows no clock, no process and no disk: its state is a function of the
// ledger it was made from and the calls since.
type schedule struct {
	graph   *epic.Graph
	tasks   []*epic.Task
	phase   []phase
	waiting []int // dependencies not completed yet
	ready   readyQueue
	running int
}

// phase is where a task stands in this run.
type phase uint8

const (
	phaseWaiting phase = iota // some dependency is not completed
	phaseReady
	phaseRunning
	phaseCompleted
	phaseGated
	phaseOutside // not selected for this run
)

// newSchedule starts from the ledger. wanted limits the run to some tasks; nil means all.
func newSchedule(e *epic.Epic, g *epic.Graph, l *attempts.Ledger, wanted []bool) *schedule {
	s := &schedule{graph: g, tasks: make([]*epic.Task, g.Len()), phase: make([]phase, g.Len()), waiting: make([]int, g.Len())}
	for i := range e.Tasks {
		if at, ok := g.Index(e.Tasks[i].ID); ok {
			s.tasks[at] = &e.Tasks[i]
		}
	}
	for i := range s.phase {
		s.phase[i] = startPhase(l.Tasks[g.ID(i)], wanted == nil || wanted[i])
	}
	s.ready = readyQueue{graph: g, tasks: s.tasks}
	for i := range s.phase {
		for _, d := range g.Deps(i) {
			if s.phase[d] != phaseCompleted {
				s.waiting[i]++
			}
		}
		s.release(i)
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
		heap.Push(&s.ready, i)
	}
}

// next takes the most urgent ready task that fits, or returns -1. The task counts as running from now on.
func (s *schedule) next(fits func(i int) bool) int {
	var passed []int
	defer func() {
		for _, i := range passed {
			heap.Push(&s.ready, i)
		}
	}()
	for s.ready.Len() > 0 {
		i, _ := heap.Pop(&s.ready).(int)
		if fits(i) {
			s.phase[i] = phaseRunning
			s.running++
			return i
		}
		passed = append(passed, i)
	}
	return -1
}

// begun takes a task out of the ready ones that is under way already.
func (s *schedule) begun(i int) {
	if at := slices.Index(s.ready.items, i); at >= 0 {
		heap.Remove(&s.ready, at)
	}
	s.phase[i] = phaseRunning
	s.running++
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

// again puts task i back among the ready ones.
func (s *schedule) again(i int) {
	s.leave(i, phaseReady)
	heap.Push(&s.ready, i)
}

func (s *schedule) leave(i int, to phase) {
	if s.phase[i] == phaseRunning {
		s.running--
	}
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
			return nil, &RefusedError{Reason: "there is no task " + id + " in this epic", Hint: "relay status --verbose lists the tasks"}
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

// readyQueue orders ready tasks: heaviest remaining path first, then priority, then file order.
type readyQueue struct {
	graph *epic.Graph
	tasks []*epic.Task
	items []int
}

func (q *readyQueue) Len() int { return len(q.items) }

func (q *readyQueue) Less(a, b int) bool {
	i, j := q.items[a], q.items[b]
	if wi, wj := q.graph.Weight(i), q.graph.Weight(j); wi != wj {
		return wi > wj
	}
	if q.tasks[i].Priority != q.tasks[j].Priority {
		return q.tasks[i].Priority < q.tasks[j].Priority
	}
	return i < j
}

func (q *readyQueue) Swap(a, b int) { q.items[a], q.items[b] = q.items[b], q.items[a] }

// Push and Pop are for container/heap.
func (q *readyQueue) Push(x any) {
	if i, ok := x.(int); ok {
		q.items = append(q.items, i)
	}
}

func (q *readyQueue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return last
}
