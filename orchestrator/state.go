package orchestrator

import (
	"errors"
	"sync"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/briefing"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/readback"
	"relay/orchestrator/redact"
	"relay/orchestrator/runnerpool"
	"relay/orchestrator/schedule"
	"relay/reanchor"
)

// state is what the parts of a run share. What stands below mu is read and changed under that one lock; a worker that has
// nothing to do holds no slot and waits for changed.
type state struct {
	o      *Options
	engine engine.Abilities
	store  ledger
	now    func() time.Time     // the day's clock
	ran    func() time.Duration // the run's clock
	redact redact.Redactor
	past   *readback.Reader // what other sessions have left

	mu       sync.Mutex
	plan     *schedule.Schedule
	pool     *runnerpool.Pool
	changed  chan struct{} // closed and replaced at every change of state
	broken   error         // the run must end: the ledger or the engine failed
	summary  ending.Summary
	workers  int   // still at work
	openJobs []job // attempts of a killed run that no worker has taken yet
	steps    steps
}

// ledger is what a run needs of the epic's memory. See [attempts.Store].
type ledger interface {
	briefing.Memory
	View(func(*attempts.Ledger))
	Append(...attempts.Event) error
	AppendLater(...attempts.Event) error
	AppendWhile(func(), ...attempts.Event) error
	Close() error
}

func (s *state) withLock(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// announce wakes the waiting workers. The caller holds mu.
func (s *state) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// drained reports whether the caller wants nothing new to be started.
func (s *state) drained() bool {
	select {
	case <-s.o.Drain:
		return true
	default:
		return false
	}
}

// fail ends the run with a failure of this machine.
func (s *state) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = errors.Join(s.broken, err)
	s.announce()
}

// instant returns now by both clocks. Round takes off the monotonic reading of time.Now, as days are compared by the wall clock.
func (s *state) instant() clock.Instant { return clock.Instant{Day: s.now().Round(0), Run: s.ran()} }

// since returns how long ago a time of an earlier run was, at least 0: that run's clock may have been wrong.
func (s *state) since(day time.Time) time.Duration { return max(0, s.now().Sub(day)) }

func (s *state) counts() ending.Counts { return ending.CountsOf(s.store.Counts()) }

// notify passes an update to the watcher, without secrets. The caller holds mu, so the watcher is called once at a time.
func (s *state) notify(u Update) {
	if s.o.Notify == nil {
		return
	}
	u.At, u.Text = s.now(), s.redact.Text(u.Text)
	u.Counts = s.counts()
	s.o.Notify(u)
}

// about fills in the task and the number of the attempt that an update is about.
func (s *state) about(t *epic.Task, record attempts.TaskRecord, u Update) Update {
	u.Task, u.Title, u.Max = t.ID, t.Title, s.o.Limits.AttemptsFor(t)
	u.Try = record.Charges()
	if u.Kind == UpdateStarted {
		u.Try++
	}
	return u
}

// recordNotes records and tells notes for a person.
func (s *state) recordNotes(notes []attempts.Note) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var events []attempts.Event
	for i := range notes {
		notes[i].Text = s.redact.Block(notes[i].Text)
		events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &notes[i]})
		s.notify(Update{Kind: UpdateNote, Text: notes[i].Text})
	}
	return s.store.Append(events...)
}

// planTasks makes the schedule of the wanted tasks from the ledger as it is now.
func (s *state) planTasks(wanted []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.View(func(l *attempts.Ledger) {
		s.plan = schedule.New(s.o.Epic, s.o.Graph, l, wanted).WithFileClaims(s.o.Isolation == engine.IsolationWorktree)
	})
	s.step(s.instant(), attempts.Step{Kind: attempts.StepPlanned})
}

// briefInput returns what the brief of a task's attempt says besides the state of the checkout.
func (s *state) briefInput(task *epic.Task) reanchor.Input {
	in := briefing.Input(s.o.Engine(), s.store, task)
	s.past.Fill(&in)
	return in
}

// wholeEpic returns the epic as an attempt to be judged.
func (s *state) wholeEpic() (a engine.Attempt) {
	s.store.View(func(l *attempts.Ledger) { a = briefing.WholeEpic(s.o.Run, s.o.Epic, l) })
	return a
}
