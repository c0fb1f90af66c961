package schedule

// failures is what a run knows of the tasks that have failed in it, and of what may come of that.
type failures struct {
	tasks    []failed
	landed   int  // tasks that were completed
	edgeless bool // no task depends on another: only failures tell what does
	width    width
}

// failed is what is known of a task's attempts.
type failed struct {
	times  int  // without the early ones
	early  int  // how often it has failed early
	beside bool // its first failure was beside others, in a plan without dependencies
	landed int  // what failures.landed was when the last attempt began
	late   bool // see IsLate
	again  bool // nothing had landed then since the failed one before began
}

// mostEarly is how often a task may have begun too early.
const mostEarly = 2

// begin notes that an attempt at task i begins.
func (f *failures) begin(i int) {
	t := &f.tasks[i]
	t.again, t.landed = t.times+t.early > 0 && t.landed == f.landed, f.landed
}

// fail notes that an attempt has failed, as one does that lacks something, and beside others.
func (f *failures) fail(i int, lacks, beside bool) {
	t := &f.tasks[i]
	t.late = (lacks || f.edgeless) && t.times+t.early > 0
	if !lacks || !f.IsEarly(i, beside) {
		t.times++
		t.beside = t.beside || f.edgeless && beside && t.times == 1
		return
	}
	t.early++
	f.width.narrow()
}

func (f *failures) completed() {
	f.landed++
	f.width.completed()
}

// round returns how often task i has failed. The first failure does not count where others depend on the task, or may depend on it.
func (f *failures) round(i int, needed bool) int {
	t := &f.tasks[i]
	if needed || t.beside {
		return max(0, t.times-1)
	}
	return t.times
}

// IsLate reports whether task i, which has failed, is to be tried when nothing else is left: from its second failure on, if what it lacks
// may be what any other task makes.
func (f *failures) IsLate(i int) bool { return f.tasks[i].late }

// Again reports whether the last attempt at task i began from the same as the failed one before it.
func (f *failures) Again(i int) bool { return f.tasks[i].again }

// Moved reports whether anything has landed since the last attempt at task i began.
func (f *failures) Moved(i int) bool { return f.tasks[i].landed < f.landed }

// IsEarly reports whether a failure of task i may come from its having begun too early, beside others.
func (f *failures) IsEarly(i int, beside bool) bool {
	return f.edgeless && f.tasks[i].early < mostEarly && (beside || f.Moved(i))
}

// IsFull reports whether no further task may begin beside so many, however many jobs there are.
func (f *failures) IsFull(running int) bool { return f.width.most > 0 && running >= f.width.most }

// width is how many tasks run at once. In a plan without dependencies a task that fails beside others has likely begun before what it needs
// was there, as tasks do that conflict. Then one runs at a time, until many in a row were completed.
type width struct {
	most     int // 0: no limit
	calm     int // tasks completed since it was last made smaller
	patience int // how many there must be for one more
}

// narrow has one task run at a time.
func (w *width) narrow() { *w = width{most: 1, patience: max(8, 2*w.patience)} }

func (w *width) completed() {
	if w.calm++; w.most > 0 && w.calm >= w.patience {
		w.most, w.calm = w.most+1, 0
	}
}
