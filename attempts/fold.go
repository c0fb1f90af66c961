package attempts

import (
	"time"

	"relay/epic"
)

// fold is a ledger with what follows from it, kept up to date event by event.
type fold struct {
	ledger  *Ledger
	graph   *epic.Graph // nil: no task waits for another
	tasks   []*TaskRecord
	states  []Status
	waiting []int // dependencies not completed
	counts  map[Status]int
	learned []int  // tasks whose agents have told a learning, in the order in which they did
	told    []bool // by task: it is among them
	written snapshots
	extra   string
	base    int // parts of the base seen
	bases   int // parts there are
	jobs    int // of the newest run
}

// newFold begins with what is known before the first event; base may be nil.
func newFold(g *epic.Graph, base *Ledger) *fold {
	l := base
	if l == nil {
		l = &Ledger{}
	}
	l.Version = LedgerVersion
	if l.Tasks == nil {
		l.Tasks = map[string]*TaskRecord{}
	}
	f := &fold{ledger: l, graph: g, counts: map[Status]int{}}
	if g == nil {
		return f
	}
	n := g.Len()
	f.tasks, f.states, f.waiting, f.told = make([]*TaskRecord, n), make([]Status, n), make([]int, n), make([]bool, n)
	records := make([]TaskRecord, n)
	for i := range n {
		id := g.ID(i)
		if l.Tasks[id] == nil {
			l.Tasks[id] = &records[i]
		}
		f.tasks[i] = l.Tasks[id]
	}
	f.recount()
	if f.counts[Completed] < n {
		l.EndedAt = time.Time{} // the epic has grown since
	}
	return f
}

// recount computes everything that is derived from the records.
func (f *fold) recount() {
	clear(f.counts)
	for i, rec := range f.tasks {
		f.waiting[i] = 0
		for _, d := range f.graph.Deps(i) {
			if !f.tasks[d].Completed {
				f.waiting[i]++
			}
		}
		f.states[i] = rec.status(f.waiting[i] > 0)
		f.counts[f.states[i]]++
		f.learn(i)
	}
}

// status returns the task's state; waiting says that a dependency is not completed.
func (rec *TaskRecord) status(waiting bool) Status {
	switch {
	case rec.Completed:
		return Completed
	case rec.Gate != nil:
		return Gated
	case rec.Running() != nil:
		return InProgress
	case waiting:
		return BlockedOn
	}
	return Pending
}

// apply folds one event in. Events must come in the order of their sequence numbers.
func (f *fold) apply(e *Event) {
	l := f.ledger
	if e.Written != nil { // it tells of a snapshot and is in none
		f.written = append(f.written[max(0, len(f.written)-lastSnapshots+1):], *e.Written)
		return
	}
	l.Folded = Folded{Run: e.Run, Seq: e.Seq}
	if e.Request != nil {
		f.request(e)
	}
	switch {
	case e.RunStarted != nil:
		l.forgetRequests()
		f.begin(e.At)
		l.EpicID, l.Settings = e.RunStarted.EpicID, l.Settings.overruled(e.RunStarted.Settings)
		l.Integration.take(e.RunStarted)
		f.jobs = e.RunStarted.Jobs
		l.Status = RelayStatus{State: "running", PID: e.RunStarted.PID, StartedAt: e.At}
		l.Waiting, l.Until, l.Chosen, l.Why = nil, e.RunStarted.Until, e.RunStarted.Tasks, ""
		l.Run, l.Sealed = e.Run, e.RunStarted.Sealed
	case e.RunStopped != nil:
		l.Waiting, l.Why = nil, e.RunStopped.Why
		if e.RunStopped.Tip != "" {
			l.Tip, l.Regressed = e.RunStopped.Tip, e.RunStopped.Regressed
		}
		l.Status.State, l.Status.StoppedAt = "stopped", e.At
		l.Status.LastExitCode, l.Status.LastExitReason = e.RunStopped.ExitCode, e.RunStopped.Reason
		l.forgetRequests()
	case e.Finished != nil:
		l.Integration.Finished, l.Landed = e.Finished.Into, e.Finished.To
	case e.Accepted != nil:
		f.accept(e)
	case e.Cooldown != nil:
		l.cool(e.Cooldown, e.At)
	case e.Waiting != nil:
		l.Waiting = e.Waiting
	case e.EpicReviewed != nil:
		l.judged(e)
	case e.TasksAdded != nil:
		if last := l.LastEpicReview(); last != nil {
			last.Added = append(last.Added, e.TasksAdded.Tasks...)
		}
	case e.Task != "":
		f.task(e)
	}
}

// task folds an event of one task.
func (f *fold) task(e *Event) {
	rec := f.record(e.Task)
	switch e.Type {
	case TypeAttemptStarted:
		rec.start(e)
		f.ledger.Waiting = nil
	case TypeLanding:
		if e.Landing != nil {
			rec.startedBy(e).land(e.Landing)
		}
	case TypeReviewed:
		if a := rec.attempt(e.Attempt); a != nil {
			a.addReviewProgress(e.Reviewed)
		}
	case TypeAttemptEnded:
		f.ended(rec, e)
	case TypeGated:
		if !rec.Completed { // what is done stays done
			rec.Gate = gateOf(e.Gate, e.At)
		}
	case TypeUngated:
		rec.ungate()
	case TypeApproved: // what is gated, a person has done
		rec.Completed = rec.Completed || rec.Gate != nil
		rec.ungate()
	case TypeReopened:
		rec.Gate = nil
	case TypeUndone:
		rec.undo(e)
	case TypeReset:
		rec.Gate, rec.CountFrom, rec.Completed = nil, len(rec.Attempts), false
	default:
		return
	}
	f.update(e.Task, e.At)
}

// ended folds the end of an attempt.
func (f *fold) ended(rec *TaskRecord, e *Event) {
	rec.end(e)
	if e.Ended == nil {
		return
	}
	if a := rec.attempt(e.Attempt); a != nil {
		f.ledger.refusal(a.Runner, e.Ended, e.At)
	}
	if e.Ended.Landed != "" {
		f.ledger.Integration.Finished = ""
	}
}

func (f *fold) record(id string) *TaskRecord {
	rec := f.ledger.Tasks[id]
	if rec == nil {
		rec = &TaskRecord{}
		f.ledger.Tasks[id] = rec
	}
	return rec
}

func (f *fold) accept(e *Event) {
	for id, rec := range e.Accepted.Tasks {
		if rec.Completed {
			rec.Gate = nil
		}
		rec.CountFrom = min(max(rec.CountFrom, 0), len(rec.Attempts))
		for i := range rec.Attempts {
			rec.Attempts[i].land(rec.Attempts[i].Landing)
			if rec.Attempts[i].baseless() {
				rec.Attempts[i].setAside()
			}
		}
		*f.record(id) = rec
		f.update(id, e.At)
	}
	b := e.Accepted.Base
	if b == nil {
		return
	}
	f.ledger.EpicID, f.ledger.StartedAt, f.ledger.EndedAt = b.EpicID, b.StartedAt, b.EndedAt
	f.ledger.Settings, f.ledger.Integration = b.Settings, b.Integration.whole()
	if b.Status != (RelayStatus{}) {
		f.ledger.Status = b.Status
	}
	f.base, f.bases = f.base+1, b.Parts
	if b.Extra != "" {
		f.extra = b.Extra
	}
	if len(b.EpicReviews) > 0 {
		f.ledger.EpicReviews = b.EpicReviews
	}
}

// update brings a task's derived state up to date, and that of the tasks that wait for it.
func (f *fold) update(id string, at time.Time) {
	i, ok := f.index(id)
	if !ok {
		return
	}
	f.learn(i)
	was, is := f.states[i], f.tasks[i].status(f.waiting[i] > 0)
	if was == is {
		return
	}
	f.move(i, is)
	if was != Completed && is != Completed {
		return
	}
	step := -1
	if was == Completed {
		step = 1
	}
	for _, d := range f.graph.Dependants(i) {
		f.waiting[d] += step
		f.move(d, f.tasks[d].status(f.waiting[d] > 0))
	}
	f.ledger.EndedAt = time.Time{}
	if f.counts[Completed] == len(f.tasks) {
		f.ledger.EndedAt = at
	}
}

func (f *fold) index(id string) (int, bool) {
	if f.graph == nil {
		return 0, false
	}
	return f.graph.Index(id)
}

func (f *fold) move(i int, to Status) {
	if f.states[i] == to {
		return
	}
	if f.counts[f.states[i]]--; f.counts[f.states[i]] == 0 {
		delete(f.counts, f.states[i])
	}
	f.states[i] = to
	f.counts[to]++
}

// snapshots are the last ones written.
type snapshots []Written

const lastSnapshots = 16

func (s snapshots) find(sum string) (Written, bool) {
	for _, w := range s {
		if w.SHA256 == sum && sum != "" {
			return w, true
		}
	}
	return Written{}, false
}
