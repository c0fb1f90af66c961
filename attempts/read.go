package attempts

import (
	"maps"
	"slices"

	"relay/attempts/internal/durable"
	"relay/epic"
)

// View is an epic's memory as it is now, for those who only look.
type View struct {
	Ledger   *Ledger
	Counts   map[Status]int
	Warnings []string
	Faults   []Fault // damage that keeps a run from starting; the Ledger is what could be read. They are among the Warnings
	Wrong    error   // with which [Open] fails because of what was read; the Ledger is what the event logs say
	Ahead    uint64  // the last event that attempt-ledger.yml has, if the logs end before it; else 0
	Edit     string  // diff of a foreign edit of the ledger; the Ledger is as relay knows it, without the edit
	// Effective are the tasks that accepting the edit would change, Ineffective what else it has, as in "settings.timeout_minutes: 5".
	Effective, Ineffective []string
	Holder                 *Holder // who works on the epic, or did when it crashed; nil: none since the last clean stop
	Running                bool    // the holder lives
	Foreign                bool    // the holder is on another machine, where it may live
	Jobs                   int     // how many tasks the newest run does at a time; 0: unknown

	tasks progress
}

// Learned is [Store.Learned] of a ledger that was read; empty for a ledger that does not exist yet.
func (v *View) Learned(most int) []int { return v.tasks.lastLearned(most) }

// Read reads an epic's memory without writing anything: it works on a full or read-only disk, and beside a run.
// Epic and graph may be nil when the plan cannot be read; then no task is known to wait for another.
func Read(dir string, e *epic.Epic, g *epic.Graph) (*View, error) {
	return See(Options{Dir: dir, Epic: e, Graph: g})
}

// See is [Read] for those who only look. Of a long epic they begin with what a run of the same version of relay has left for them, and hold
// the events since then against the head.
func See(o Options) (*View, error) {
	disk, err := openFolder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	lock, lockErr := durable.InspectLock(disk, LockFile)
	c, err := load(disk, o, false)
	if err != nil {
		return nil, err
	}
	v := &View{
		Ledger: c.log.fold.ledger, Counts: c.log.fold.tasks.counts, Jobs: c.log.fold.jobs, Ahead: c.ahead,
		Warnings: c.log.notes, Faults: c.log.faults, Wrong: refuseEdit(c), Running: lock.Held, tasks: c.log.fold.tasks,
	}
	for _, f := range c.log.faults {
		v.Warnings = append(v.Warnings, f.Error())
	}
	if !lock.Held { // a log that is being written may end anywhere
		v.Warnings = append(v.Warnings, c.log.tornNotes()...)
	}
	if lock.Held || lock.Holder.PID != 0 {
		v.Holder, v.Foreign = &lock.Holder, lock.Foreign
	}
	if lockErr != nil {
		v.Warnings = append(v.Warnings, lockErr.Error())
	}
	switch {
	case c.edit != nil && c.edit.Unreadable != nil:
		v.Warnings = append(v.Warnings, c.edit.Error()+"; the event logs stand in for it, and relay ledger repair rewrites it")
	case c.edit != nil:
		v.Edit, v.Effective, v.Ineffective = c.edit.Diff, slices.Sorted(maps.Keys(c.taken)), c.ineffective
	}
	return v, nil
}

// Memory is a ledger that is made of events alone, and written nowhere. It is not safe for use by several goroutines.
type Memory struct{ fold *fold }

// NewMemory returns a memory that goes on from a ledger, which it takes over; nil: no event is known yet.
func NewMemory(g *epic.Graph, l *Ledger) *Memory { return &Memory{newFold(g, l)} }

// Fold adds an event. Events come in the order in which they happened.
func (m *Memory) Fold(e Event) { m.fold.apply(&e) }

// View calls f with the ledger as it is now. f must not change it.
func (m *Memory) View(f func(*Ledger)) { f(m.fold.ledger) }

// Task returns a copy of one task's record, as [Store.Task] does.
func (m *Memory) Task(id string) TaskRecord { return m.fold.ledger.Tasks[id].clone() }

// Counts reports how many tasks of the epic are in each state.
func (m *Memory) Counts() map[Status]int { return m.fold.tasks.counts }

// Replay calls f with every event there is, in order, without writing anything. Lines that cannot be read are left
// out; types that are not known are passed on.
func Replay(dir string, f func(Event) error) error { return NewTail(dir).Next(f) }

// LastEvent returns the number of the last event of an epic, or 0 when there is none. It reads the newest log only.
func LastEvent(dir string) (seq uint64, err error) {
	t := NewTail(dir)
	t.newest = true
	err = t.Next(func(e Event) error {
		seq = max(seq, e.Seq)
		return nil
	})
	return seq, err
}

// Tail follows the logs of an epic without writing anything.
type Tail struct {
	dir    string
	read   map[string]int64 // by run: so many bytes of its log
	newest bool             // only the newest log
}

// NewTail returns a tail that begins with the first event.
func NewTail(dir string) *Tail { return &Tail{dir: dir, read: map[string]int64{}} }

// Next calls f with every event since the last call, in order, as [Replay] does. After an error it repeats events.
func (t *Tail) Next(f func(Event) error) error {
	disk, err := durable.OpenDisk(t.dir)
	if err != nil {
		return err
	}
	defer disk.Close()
	logs, err := findLogs(disk)
	if err != nil {
		return err
	}
	for i, l := range logs {
		if l.odd || l.first == 0 || t.newest && i < len(logs)-1 { // events of an empty one come after those of all others
			continue
		}
		if t.read[l.run], err = l.replay(disk, t.read[l.run], f); err != nil {
			return err
		}
	}
	return nil
}

// replay calls f with the events from an offset on, and returns where it ended.
func (l *logFile) replay(fsys durable.FS, from int64, f func(Event) error) (end int64, err error) {
	var e Event
	tail, err := l.lines(fsys, from, func(line *durable.Line) error {
		if decode(line.Text, &e) != nil {
			return nil //nolint:nilerr // it skips lines that are not events, as the ledger does
		}
		return f(e)
	})
	return from + tail.Offset, err
}
