package schedule

import (
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic"
)

// fileClaims keep tasks that declare the same files from running at once: each would be done without the other's
// changes, and landing the second would conflict. A task holds its claim until its attempt has ended, landing included.
// A task that declares no files has none. While verified work waits for its landing, all files it changes belong to its
// claim; files that conflicted when a task was to land belong to its claims from then on.
//
// A task that waits for a claim is not in the ready queue, so it is not looked at again and again. When a claim is
// released, only the most urgent of the tasks that declare the same file is made ready: no two of them can run.
type fileClaims struct {
	byTask []epic.Lease // by task; nil: the schedule has no claims
	shared [][]int32    // by task: the numbers of those of its declarations that other tasks spell the same

	holders     []int           // tasks that hold their claim now
	waiting     map[int][]int   // by holder: tasks that declare the same files, spelled differently
	inUse       map[int32]bool  // by declaration: a task holds it
	queues      map[int32][]int // by declaration: tasks that wait for it, as a heap
	promotedFor map[int][]int32 // by promoted task: the declarations it was promoted for

	contested     map[int]epic.Lease // by task that could not land: the files that conflicted
	beforeLanding map[int]epic.Lease // by task that waits for its landing: its claim before
}

// WithFileClaims returns the schedule with file claims if wanted, else as it is.
func (s *Schedule) WithFileClaims(wanted bool) *Schedule {
	if !wanted {
		return s
	}
	s.claims = fileClaims{byTask: make([]epic.Lease, len(s.tasks)), shared: make([][]int32, len(s.tasks)), contested: map[int]epic.Lease{}}.unheld()
	first, number := make(map[string]int, len(s.tasks)), map[string]int32{}
	for i, t := range s.tasks {
		files := slices.Concat(t.Files, s.contested[i])
		s.claims.byTask[i] = epic.NewLease(files)
		if len(files) > len(t.Files) {
			s.claims.contested[i] = epic.NewLease(s.contested[i])
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
				s.claims.shared[k] = append(s.claims.shared[k], n)
			}
			if !slices.Contains(s.claims.shared[i], n) {
				s.claims.shared[i] = append(s.claims.shared[i], n)
			}
		}
	}
	for i := range s.missing {
		s.claims.acquire(i)
	}
	return s
}

// unheld returns a copy of the claims that no task holds.
func (l fileClaims) unheld() fileClaims {
	if l.byTask == nil {
		return l
	}
	l.holders = nil
	l.waiting, l.inUse, l.queues, l.promotedFor = map[int][]int{}, map[int32]bool{}, map[int32][]int{}, map[int][]int32{}
	l.contested, l.beforeLanding = maps.Clone(l.contested), map[int]epic.Lease{}
	return l
}

// ContestedFiles returns the files that conflicted when work on the task was to land, sorted.
func ContestedFiles(record attempts.TaskRecord) (files []string) {
	for _, a := range record.Attempts {
		files = append(files, a.Receipt.Contested...)
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// IsContested reports whether the work on task i could not land before because others had changed the same files.
func (s *Schedule) IsContested(i int) bool { return s.claims.contested[i] != nil }

// AddContested adds files that conflicted to the claim of task i, which must not be running.
func (s *Schedule) AddContested(i int, files []string) {
	if s.claims.byTask == nil || len(files) == 0 {
		return
	}
	s.claims.contested[i] = epic.NewLease(files)
	s.claims.byTask[i] = slices.Concat(epic.NewLease(s.tasks[i].Files), s.claims.contested[i])
}

// maxClaimedFiles is how many changed files are compared one by one; a task that changes more claims all files.
const maxClaimedFiles = 1000

// AwaitLanding adds the files that running task i has changed to its claim until it stops: a task that began now on the
// same files would not see these changes.
func (s *Schedule) AwaitLanding(i int, changed []string) {
	l := &s.claims
	if l.byTask == nil {
		return
	}
	if len(changed) > maxClaimedFiles {
		changed = []string{"."}
	}
	l.beforeLanding[i] = l.byTask[i]
	l.byTask[i] = slices.Concat(l.byTask[i], epic.NewLease(changed))
	l.acquire(i)
}

// BlocksContested reports whether task i, which waits for its landing, has changed files that a running task claims
// whose work could not land before. If i landed first, that task would lose its work a second time.
func (s *Schedule) BlocksContested(i int) bool {
	for k, files := range s.claims.contested {
		if _, lands := s.claims.beforeLanding[k]; !lands && k != i && s.phase[k] == phaseRunning && files.Overlaps(s.claims.byTask[i]) {
			return true
		}
	}
	return false
}

// queueIfClaimed reports whether a task that holds its claim keeps task i from starting, and if so queues i behind it.
func (s *Schedule) queueIfClaimed(i int) bool {
	l := &s.claims
	if l.byTask == nil || len(l.byTask[i]) == 0 || slices.Contains(l.holders, i) {
		return false
	}
	for _, n := range l.shared[i] {
		if l.inUse[n] {
			l.queues[n] = s.ready.push(l.queues[n], i)
			return true
		}
	}
	for _, k := range l.holders {
		if l.byTask[k].Overlaps(l.byTask[i]) {
			l.waiting[k] = append(l.waiting[k], i)
			return true
		}
	}
	return false
}

// promoteBehind makes the tasks ready that are queued behind task i, which does not start now. It returns the most
// urgent of them, or -1.
func (s *Schedule) promoteBehind(i int) int {
	best, names := -1, s.claims.promotedFor[i]
	if len(names) == 0 {
		return best
	}
	delete(s.claims.promotedFor, i)
	for _, n := range names {
		if k := s.promote(n); k >= 0 && (best < 0 || s.ready.before(k, best)) {
			best = k
		}
	}
	return best
}

// promote makes the most urgent of the tasks ready that are queued for a shared declaration, unless it is in use. It
// returns that task, or -1.
func (s *Schedule) promote(n int32) int {
	l := &s.claims
	if l.inUse[n] || len(l.queues[n]) == 0 {
		return -1
	}
	var i int
	if l.queues[n], i = s.ready.pop(l.queues[n]); len(l.queues[n]) == 0 {
		delete(l.queues, n)
	}
	l.promotedFor[i] = append(l.promotedFor[i], n)
	s.ready.add(i)
	return i
}

// acquire gives task i its claim.
func (l *fileClaims) acquire(i int) {
	if l.byTask == nil || len(l.byTask[i]) == 0 || slices.Contains(l.holders, i) {
		return
	}
	l.holders = append(l.holders, i)
	for _, n := range l.shared[i] {
		l.inUse[n] = true
	}
	delete(l.promotedFor, i)
}

// releaseClaim ends the claim of task i and makes ready what waited for it.
func (s *Schedule) releaseClaim(i int) {
	l := &s.claims
	if before, ok := l.beforeLanding[i]; ok {
		l.byTask[i] = before
		delete(l.beforeLanding, i)
	}
	at := slices.Index(l.holders, i)
	if at < 0 {
		return
	}
	l.holders = slices.Delete(l.holders, at, at+1)
	for _, k := range l.waiting[i] {
		s.ready.add(k)
	}
	delete(l.waiting, i)
	for _, n := range l.shared[i] {
		delete(l.inUse, n)
		s.promote(n)
	}
}

// waiters returns the tasks that the end of task i may let start; of those queued for the same declaration only the
// first.
func (l *fileClaims) waiters(i int) []int {
	all := l.waiting[i]
	if l.byTask == nil {
		return all
	}
	for _, n := range l.shared[i] {
		if len(l.queues[n]) > 0 {
			all = append(slices.Clip(all), l.queues[n][0])
		}
	}
	return all
}
