package schedule

import (
	"maps"
	"slices"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/epic/pattern"
)

// contention keeps apart tasks whose work would likely conflict. Declared files are a hint: of two tasks that could start, the one
// that shares no file with a running task starts first. A task waits only where git has shown that it must: for a file in which the work of
// two tasks has conflicted, and for work that waits for its landing and changes a file of the task, which the task would not see.
type contention struct {
	tasks    []*epic.Task
	holders  map[int]bool   // tasks that are running (true), or whose work waits for its review: that may take hours
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
func newContention(tasks []*epic.Task, lost map[int][]string) contention {
	c := contention{tasks: tasks, holders: map[int]bool{}, declared: map[string]int{}, lost: lost, landing: map[int]*fileSet{}}
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
func ContestedFiles(record attempts.TaskRecord) []string {
	files := slices.Concat(each.Of(record.Attempts, func(a attempts.Attempt) []string { return a.Receipt.Contested })...)
	slices.Sort(files)
	return slices.Compact(files)
}

// IsContested reports whether the work on task i could not land before because others had changed the same files.
func (c *contention) IsContested(i int) bool { return c.lost[i] != nil }

// lose notes all files that conflicted when work on task i was to land. It reports whether one of them is hot now.
func (c *contention) lose(i int, files []string) bool {
	before := len(c.hot)
	if len(files) > 0 {
		c.lost[i] = files
		c.heat()
	}
	return len(c.hot) > before
}

// mostCompared is how many changed files of one work are compared, and how many tasks that share a file with a running one are passed over.
const mostCompared = 100

// AwaitLanding keeps tasks on the files that running task i has changed from starting until it stops.
func (c *contention) AwaitLanding(i int, changed []string) {
	c.landing[i] = newFileSet(changed[:min(len(changed), mostCompared)]...)
}

// BlocksContested reports whether task i, which waits for its landing, has changed files of a running task
// whose work could not land before. If i landed first, that task would lose its work a second time.
func (c *contention) BlocksContested(i int) bool {
	changed := c.landing[i]
	for k, lost := range c.lost {
		if c.landing[k] == nil && k != i && c.holders[k] && changed != nil &&
			slices.ContainsFunc(lost, func(f string) bool { return slices.Contains(changed.files, f) }) {
			return true
		}
	}
	return false
}

// MustWait reports whether task i may not start beside what is running or landing now.
func (c *contention) MustWait(i int) (waits bool) {
	if len(c.landing)+len(c.hot) == 0 || c.holds(i) {
		return false
	}
	for _, work := range c.landing {
		waits = waits || c.meets(work, i)
	}
	for _, file := range c.hot {
		for k, running := range c.holders {
			waits = waits || running && c.meets(file, i) && c.meets(file, k)
		}
	}
	return waits
}

// meets reports whether a task declares one of the files, or has lost it.
func (c *contention) meets(set *fileSet, i int) bool {
	met, known := set.meets[i]
	if !known {
		met = slices.ContainsFunc(set.files, func(f string) bool {
			return slices.Contains(c.lost[i], f) ||
				slices.ContainsFunc(c.tasks[i].Files, func(declared string) bool { return pattern.Covers(declared, f) })
		})
		set.meets[i] = met
	}
	return met
}

// shares reports whether task i declares a file or a glob that a holder declares, too.
func (c *contention) shares(i int) bool {
	return len(c.declared) > 0 && !c.holds(i) &&
		slices.ContainsFunc(c.tasks[i].Files, func(f string) bool { return c.declared[pattern.CleanPath(f)] > 0 })
}

func (c *contention) holds(i int) bool {
	_, holds := c.holders[i]
	return holds
}

// hold has others avoid the files of task i.
func (c *contention) hold(i int, running bool) {
	if !c.holds(i) {
		for _, f := range c.tasks[i].Files {
			c.declared[pattern.CleanPath(f)]++
		}
	}
	c.holders[i] = running
}

// letGo ends that.
func (c *contention) letGo(i int) {
	delete(c.landing, i)
	if !c.holds(i) {
		return
	}
	delete(c.holders, i)
	for _, f := range c.tasks[i].Files {
		f = pattern.CleanPath(f)
		if c.declared[f]--; c.declared[f] == 0 {
			delete(c.declared, f)
		}
	}
}
