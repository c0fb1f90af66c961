package orchestrator

import (
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic"
)

// leases keep tasks apart that declare the same files: each would be done without knowing of the other, and landing the
// second would be a conflict. A task has its lease until its attempt has ended, landing included. One that declares
// nothing has none. While proved work waits for its landing, all that it changes is part of its lease; and the files over
// which a task could not land are part of its leases from then on.
//
// What waits for a lease is not among the ready tasks, so that nobody looks at it again and again. When the lease is
// given back, of all that name the same file only the most urgent comes forward: no two of them can run.
type leases struct {
	of    []epic.Lease // by task; nil: no task has one
	names [][]int32    // by task: what it declares that others declare in the same words, as numbers

	taken  []int           // tasks that have their lease now
	held   map[int][]int   // by one of those: tasks that share files with it, in other words
	busy   map[int32]bool  // by name: a task has it
	queues map[int32][]int // by name: tasks that wait for it, as a heap
	ahead  map[int][]int32 // by task that came forward: the names it did so for

	contested map[int]epic.Lease // by task that could not land: the files it was over
	lands     map[int]epic.Lease // by task whose work waits for its landing: its lease before
}

// leased gives the tasks of a schedule leases, if that is wanted.
func (s *schedule) leased(wanted bool) *schedule {
	if !wanted {
		return s
	}
	s.leases = leases{of: make([]epic.Lease, len(s.tasks)), names: make([][]int32, len(s.tasks)), contested: map[int]epic.Lease{}}.anew()
	first, number := make(map[string]int, len(s.tasks)), map[string]int32{}
	for i, t := range s.tasks {
		files := slices.Concat(t.Files, s.contested[i])
		s.leases.of[i] = epic.NewLease(files)
		if len(files) > len(t.Files) {
			s.leases.contested[i] = epic.NewLease(s.contested[i])
		}
		for _, file := range files {
			k, met := first[file]
			switch {
			case !met:
				first[file] = i
				continue
			case k == i:
				continue
			}
			n, numbered := number[file]
			if !numbered {
				n = int32(len(number))
				number[file] = n
				s.leases.names[k] = append(s.leases.names[k], n)
			}
			if !slices.Contains(s.leases.names[i], n) {
				s.leases.names[i] = append(s.leases.names[i], n)
			}
		}
	}
	for i := range s.awaits {
		s.leases.take(i)
	}
	return s
}

// anew is the same leases when nobody has one.
func (l leases) anew() leases {
	if l.of == nil {
		return l
	}
	l.taken = nil
	l.held, l.busy, l.queues, l.ahead = map[int][]int{}, map[int32]bool{}, map[int32][]int{}, map[int][]int32{}
	l.contested, l.lands = maps.Clone(l.contested), map[int]epic.Lease{}
	return l
}

// contested are the files over which the attempts of a task could not land.
func contested(record attempts.TaskRecord) (files []string) {
	for _, a := range record.Attempts {
		files = append(files, a.Receipt.Contested...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// learn adds the files to the lease of task i over which it could not land. It is not running.
func (s *schedule) learn(i int, files []string) {
	if s.leases.of == nil || len(files) == 0 {
		return
	}
	s.leases.contested[i] = epic.NewLease(files)
	s.leases.of[i] = slices.Concat(epic.NewLease(s.tasks[i].Files), s.leases.contested[i])
}

// mostLeased is how many changed files are compared one by one; a task that changes more is taken to change all.
const mostLeased = 1000

// proved has task i, which runs, wait for its landing, with all that it has changed as part of its lease: what begins
// now on the same files would not know of it.
func (s *schedule) proved(i int, changed []string) {
	l := &s.leases
	if l.of == nil {
		return
	}
	if len(changed) > mostLeased {
		changed = []string{"."}
	}
	l.lands[i] = l.of[i]
	l.of[i] = slices.Concat(l.of[i], epic.NewLease(changed))
	l.take(i)
}

// yields reports whether task i, which waits for its landing, would be in the way of one that could not land before and is
// at work again. That one has lost an agent's whole work already.
func (s *schedule) yields(i int) bool {
	for k, files := range s.leases.contested {
		if _, lands := s.leases.lands[k]; !lands && k != i && s.phase[k] == phaseRunning && files.Overlaps(s.leases.of[i]) {
			return true
		}
	}
	return false
}

// hold reports whether a task that has its lease keeps task i from starting; then i waits for that one.
func (s *schedule) hold(i int) bool {
	l := &s.leases
	if l.of == nil || len(l.of[i]) == 0 || slices.Contains(l.taken, i) {
		return false
	}
	for _, n := range l.names[i] {
		if l.busy[n] {
			l.queues[n] = s.ready.push(l.queues[n], i)
			return true
		}
	}
	for _, k := range l.taken {
		if l.of[k].Overlaps(l.of[i]) {
			l.held[k] = append(l.held[k], i)
			return true
		}
	}
	return false
}

// pass lets those come forward that stand behind task i, which does not start now. It returns the most urgent, or -1.
func (s *schedule) pass(i int) int {
	best, names := -1, s.leases.ahead[i]
	if len(names) == 0 {
		return best
	}
	delete(s.leases.ahead, i)
	for _, n := range names {
		if k := s.forward(n); k >= 0 && (best < 0 || s.ready.before(k, best)) {
			best = k
		}
	}
	return best
}

// forward makes the most urgent of the tasks ready that wait for a name, if nobody has it. It returns that one, or -1.
func (s *schedule) forward(n int32) int {
	l := &s.leases
	if l.busy[n] || len(l.queues[n]) == 0 {
		return -1
	}
	var i int
	if l.queues[n], i = s.ready.pop(l.queues[n]); len(l.queues[n]) == 0 {
		delete(l.queues, n)
	}
	l.ahead[i] = append(l.ahead[i], n)
	s.ready.add(i)
	return i
}

// take gives task i its lease.
func (l *leases) take(i int) {
	if l.of == nil || len(l.of[i]) == 0 || slices.Contains(l.taken, i) {
		return
	}
	l.taken = append(l.taken, i)
	for _, n := range l.names[i] {
		l.busy[n] = true
	}
	delete(l.ahead, i)
}

// giveBack ends the lease of task i.
func (s *schedule) giveBack(i int) {
	l := &s.leases
	if before, ok := l.lands[i]; ok {
		l.of[i] = before
		delete(l.lands, i)
	}
	at := slices.Index(l.taken, i)
	if at < 0 {
		return
	}
	l.taken = slices.Delete(l.taken, at, at+1)
	for _, k := range l.held[i] {
		s.ready.add(k)
	}
	delete(l.held, i)
	for _, n := range l.names[i] {
		delete(l.busy, n)
		s.forward(n)
	}
}

// waiters are the tasks that the end of task i may let start, of those behind each other the first.
func (l *leases) waiters(i int) []int {
	all := l.held[i]
	if l.of == nil {
		return all
	}
	for _, n := range l.names[i] {
		if len(l.queues[n]) > 0 {
			all = append(slices.Clip(all), l.queues[n][0])
		}
	}
	return all
}
