package schedule

import (
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic/globs"
)

// fileClaims keep tasks that declare the same files from running at once: each would be done without the other's
// changes, and landing the second would conflict. A task holds its claim until its attempt has ended, landing included.
// A task that declares no files has none. While verified work waits for its landing, all files it changes belong to its
// claim; files that conflicted when a task was to land belong to its claims from then on.
//
// A task that waits for a claim is not in the ready queue, so it is not looked at again and again. When a claim is
// released, only the most urgent of the tasks that are in the same group of declarations is made ready: no two of them can
// run.
type fileClaims struct {
	byTask []globs.FileClaims // by task; nil: the schedule has no claims
	shared [][]int32          // by task: the numbers of those groups of its declarations that other tasks are in, too

	numbers     map[string]int32 // of the groups that more than one task is in
	holders     []int            // tasks that hold their claim now
	waiting     map[int][]int    // by holder: tasks that declare the same files in another group
	inUse       map[int32]bool   // by group: a task holds a claim in it, or one that overlaps all of it
	closed      map[int][]int32  // by holder: the groups that its claim overlaps, and that tasks wait for therefore
	queues      map[int32][]int  // by group: tasks that wait for it, as a heap
	promotedFor map[int][]int32  // by promoted task: the groups it was promoted for

	contested     map[int]globs.FileClaims // by task that could not land: the files that conflicted
	beforeLanding map[int]globs.FileClaims // by task that waits for its landing: its claim before
}

// WithFileClaims returns the schedule with file claims if wanted, else as it is.
func (s *Schedule) WithFileClaims(wanted bool) *Schedule {
	if !wanted {
		return s
	}
	s.claims = fileClaims{
		byTask: make([]globs.FileClaims, len(s.tasks)), shared: make([][]int32, len(s.tasks)), contested: map[int]globs.FileClaims{},
	}.unheld()
	first, number := make(map[string]int, len(s.tasks)), map[string]int32{}
	s.claims.numbers = number
	for i, t := range s.tasks {
		files := slices.Concat(t.Files, s.contested[i])
		s.claims.byTask[i] = globs.NewFileClaims(files)
		if len(files) > len(t.Files) {
			s.claims.contested[i] = globs.NewFileClaims(s.contested[i])
		}
		for _, group := range s.claims.byTask[i].Groups() {
			k, met := first[group]
			switch {
			case !met:
				first[group] = i
				continue
			case k == i:
				continue
			}
			n, numbered := number[group]
			if !numbered {
				n = int32(len(number))
				number[group] = n
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
	l.waiting, l.inUse, l.closed = map[int][]int{}, map[int32]bool{}, map[int][]int32{}
	l.queues, l.promotedFor = map[int32][]int{}, map[int][]int32{}
	l.contested, l.beforeLanding = maps.Clone(l.contested), map[int]globs.FileClaims{}
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

// AddContested adds files that conflicted to the claim of task i, which must not be running. In a plan without dependencies tasks run one
// at a time once two have conflicted in a file: others may change it, too.
func (s *Schedule) AddContested(i int, files []string) {
	if s.claims.byTask == nil || len(files) == 0 {
		return
	}
	claim := globs.NewFileClaims(files)
	for k, other := range s.claims.contested {
		if k != i && other.Overlaps(claim) {
			s.Failures.conflict()
		}
	}
	s.claims.contested[i] = claim
	s.claims.byTask[i] = slices.Concat(globs.NewFileClaims(s.tasks[i].Files), s.claims.contested[i])
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
	l.byTask[i] = slices.Concat(l.byTask[i], globs.NewFileClaims(changed))
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
		if !l.byTask[k].Overlaps(l.byTask[i]) {
			continue
		}
		if n := l.close(k, i); n >= 0 {
			l.queues[n] = s.ready.push(l.queues[n], i)
		} else {
			l.waiting[k] = append(l.waiting[k], i)
		}
		return true
	}
	return false
}

// close looks for a group of task i all of whose claims overlap that of holder k, and keeps its other tasks from being
// compared with k one by one. It returns the group, or -1.
func (l *fileClaims) close(k, i int) int32 {
	if len(l.shared[i]) == 0 {
		return -1
	}
	for at, name := range l.byTask[i].Groups() {
		if n, ok := l.numbers[name]; ok && slices.Contains(l.shared[i], n) && l.byTask[k].OverlapsGroup(l.byTask[i], at) {
			l.inUse[n] = true
			l.closed[k] = append(l.closed[k], n)
			return n
		}
	}
	return -1
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

// promote makes the most urgent of the tasks ready that are queued for a group, unless a task holds a claim in it. It
// returns that task, or -1. A task that was taken out of the run meanwhile is passed over.
func (s *Schedule) promote(n int32) int {
	l := &s.claims
	if l.inUse[n] {
		return -1
	}
	i := -1
	for len(l.queues[n]) > 0 && (i < 0 || s.phase[i] != phaseReady) {
		l.queues[n], i = s.ready.pop(l.queues[n])
	}
	if len(l.queues[n]) == 0 {
		delete(l.queues, n)
	}
	if i < 0 || s.phase[i] != phaseReady {
		return -1
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
		if s.phase[k] == phaseReady {
			s.ready.add(k)
		}
	}
	delete(l.waiting, i)
	for _, n := range l.groups(i) {
		delete(l.inUse, n)
		s.promote(n)
	}
	delete(l.closed, i)
}

// groups returns the groups that nobody else may enter while task i holds its claim.
func (l *fileClaims) groups(i int) []int32 { return slices.Concat(l.shared[i], l.closed[i]) }

// waiters returns the tasks that the end of task i may let start; of those queued for the same group only the
// first.
func (l *fileClaims) waiters(i int) []int {
	all := l.waiting[i]
	if l.byTask == nil {
		return all
	}
	for _, n := range l.groups(i) {
		if len(l.queues[n]) > 0 {
			all = append(slices.Clip(all), l.queues[n][0])
		}
	}
	return all
}
