package schedule

import (
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic/pattern"
)

// contention keeps apart tasks whose work would likely conflict. Declared files are a hint: of two tasks that could start, the one
// that shares no file with a running task starts first. A task waits only where git has shown that it must: for a file in which the work of
// two tasks has conflicted, and for work that waits for its landing and changes a file of the task, which the task would not see.
type contention struct {
	holders  []int          // tasks that are running, or whose work waits for its landing or its review: that may take hours
	declared map[string]int // by declared file or glob: how many holders have it
	lost     map[int][]string
	hot      []*fileSet // each a file that the work of more than one task has lost
	landing  map[int]*fileSet
}

// fileSet is a set of files, with the tasks that it was compared with.
type fileSet struct {
	files []string
	meets map[int]bool
}

func newFileSet(files ...string) *fileSet { return &fileSet{files, map[int]bool{}} }

// newContention begins with the files that each task has lost in earlier runs.
func newContention(lost map[int][]string) contention {
	c := contention{declared: map[string]int{}, lost: lost, landing: map[int]*fileSet{}}
	c.heat()
	return c
}

// heat finds the files that more than one task has lost.
func (c *contention) heat() {
	losers := map[string]int{}
	for _, files := range c.lost {
		for _, f := range files {
			losers[f]++
		}
	}
	c.hot = nil
	for _, f := range slices.Sorted(maps.Keys(losers)) {
		if losers[f] > 1 {
			c.hot = append(c.hot, newFileSet(f))
		}
	}
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
func (s *Schedule) IsContested(i int) bool { return s.contention.lost[i] != nil }

// AddContested notes all files that conflicted when work on task i was to land. In a plan without dependencies tasks run one at a time
// once two have conflicted in a file: others may change it, too.
func (s *Schedule) AddContested(i int, files []string) {
	c := &s.contention
	if len(files) == 0 {
		return
	}
	before := len(c.hot)
	c.lost[i] = files
	if c.heat(); len(c.hot) > before {
		s.Failures.conflict()
	}
}

// mostCompared is how many changed files of one work are compared, and how many tasks that share a file with a running one are passed over.
const mostCompared = 100

// AwaitLanding keeps tasks on the files that running task i has changed from starting until it stops.
func (s *Schedule) AwaitLanding(i int, changed []string) {
	s.contention.landing[i] = newFileSet(changed[:min(len(changed), mostCompared)]...)
}

// BlocksContested reports whether task i, which waits for its landing, has changed files of a running task
// whose work could not land before. If i landed first, that task would lose its work a second time.
func (s *Schedule) BlocksContested(i int) bool {
	c := &s.contention
	changed := c.landing[i]
	for k, lost := range c.lost {
		if c.landing[k] == nil && k != i && s.phase[k] == phaseRunning && changed != nil &&
			slices.ContainsFunc(lost, func(f string) bool { return slices.Contains(changed.files, f) }) {
			return true
		}
	}
	return false
}

// MustWait reports whether task i may not start beside what is running or landing now.
func (s *Schedule) MustWait(i int) bool {
	c := &s.contention
	if slices.Contains(c.holders, i) {
		return false
	}
	for _, work := range c.landing {
		if s.meets(work, i) {
			return true
		}
	}
	for _, file := range c.hot {
		if s.meets(file, i) && slices.ContainsFunc(c.holders, func(k int) bool { return s.phase[k] == phaseRunning && s.meets(file, k) }) {
			return true
		}
	}
	return false
}

// meets reports whether a task declares one of the files, or has lost it.
func (s *Schedule) meets(set *fileSet, i int) bool {
	met, known := set.meets[i]
	if !known {
		met = slices.ContainsFunc(set.files, func(f string) bool {
			return slices.Contains(s.contention.lost[i], f) ||
				slices.ContainsFunc(s.tasks[i].Files, func(declared string) bool { return pattern.Covers(declared, f) })
		})
		set.meets[i] = met
	}
	return met
}

// shares reports whether task i, which declares these files, shares one, or the same glob, with a holder.
func (c *contention) shares(i int, files []string) bool {
	return len(c.declared) > 0 && !slices.Contains(c.holders, i) &&
		slices.ContainsFunc(files, func(f string) bool { return c.declared[pattern.CleanPath(f)] > 0 })
}

// hold has others avoid the files of task i.
func (c *contention) hold(i int, files []string) {
	if slices.Contains(c.holders, i) {
		return
	}
	c.holders = append(c.holders, i)
	for _, f := range files {
		c.declared[pattern.CleanPath(f)]++
	}
}

// letGo ends that.
func (c *contention) letGo(i int, files []string) {
	delete(c.landing, i)
	at := slices.Index(c.holders, i)
	if at < 0 {
		return
	}
	c.holders = slices.Delete(c.holders, at, at+1)
	for _, f := range files {
		f = pattern.CleanPath(f)
		if c.declared[f]--; c.declared[f] == 0 {
			delete(c.declared, f)
		}
	}
}
