package orchestrator

import (
	"slices"

	"relay/epic"
)

// leases keep tasks apart that declare the same files: each would be done without knowing of the other, and landing the
// second would be a conflict. A task has its lease until its attempt has ended, landing included. One that declares
// nothing has none.
type leases struct {
	of    []epic.Lease  // by task; nil: no task has one
	taken []int         // tasks that have their lease now
	held  map[int][]int // ready tasks, by one that keeps them from starting
}

// leased gives the tasks of a schedule leases, if that is wanted.
func (s *schedule) leased(wanted bool) *schedule {
	if !wanted {
		return s
	}
	s.leases = leases{of: make([]epic.Lease, len(s.tasks)), held: make(map[int][]int)}
	for i, t := range s.tasks {
		s.leases.of[i] = epic.NewLease(t.Files)
	}
	return s
}

// hold reports whether a task that has its lease keeps i from starting; then i is held until that one ends. So a task is
// not compared again each time a worker looks for something to do.
func (l *leases) hold(i int) bool {
	if l.of == nil || len(l.of[i]) == 0 {
		return false
	}
	for _, k := range l.taken {
		if l.of[k].Overlaps(l.of[i]) {
			l.held[k] = append(l.held[k], i)
			return true
		}
	}
	return false
}

func (l *leases) take(i int) {
	if l.of != nil && len(l.of[i]) > 0 {
		l.taken = append(l.taken, i)
	}
}

// giveBack ends the lease of a task, and returns the tasks it held.
func (l *leases) giveBack(i int) []int {
	at := slices.Index(l.taken, i)
	if at < 0 {
		return nil
	}
	l.taken = slices.Delete(l.taken, at, at+1)
	free := l.held[i]
	delete(l.held, i)
	return free
}
