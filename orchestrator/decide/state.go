package decide

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/clock"
	"relay/orchestrator/ending"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/orchestrator/runnerpool"
	"relay/orchestrator/schedule"
	"relay/orchestrator/updates"
)

// State is what the parts of a scheduler share. What stands below Mu is read and changed under that one lock; a worker that has
// nothing to do holds no slot and waits for a change.
type State struct {
	O      *Settings
	store  Ledger
	Now    func() time.Time     // the day's clock
	Ran    func() time.Duration // the run's clock
	Redact redact.Redactor

	Mu       sync.Mutex
	Plan     *schedule.Schedule
	Pool     *runnerpool.Pool
	Changed  chan struct{} // closed and replaced at every change of state
	Broken   error         // the run must end: the ledger or the engine failed
	Summary  ending.Summary
	Workers  int   // still at work
	OpenJobs []Job // attempts of a killed run that no worker has taken yet
	steps    steps

	Paused   bool         // a person has the run start nothing new
	Withheld map[int]bool // tasks that a person has stopped or gated: they are not tried again when what runs of them has ended
	Closing  bool         // the run comes to its end: nothing is asked of it any more
	Restored bool         // since the workers last began a person has had a task tried again
}

// Ledger is what decisions need of the epic's memory. See [attempts.Store].
type Ledger interface {
	Task(id string) attempts.TaskRecord
	Counts() map[attempts.Status]int
	View(func(*attempts.Ledger))
	AppendLater(...attempts.Event) error
}

// WithLock calls f with Mu held.
func (s *State) WithLock(f func()) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	f()
}

// Announce wakes the waiting workers. The caller holds Mu.
func (s *State) Announce() {
	close(s.Changed)
	s.Changed = make(chan struct{})
}

// Drained reports whether the caller wants nothing new to be started.
func (s *State) Drained() bool {
	select {
	case <-s.O.Drain:
		return true
	default:
		return false
	}
}

// recallRequests takes over what a person has asked of the run that this one goes on from.
func (s *State) recallRequests() {
	s.Withheld = map[int]bool{}
	s.store.View(func(l *attempts.Ledger) {
		if !l.GoesOn() {
			return
		}
		s.Paused = !l.Paused.IsZero()
		for id := range l.Held {
			if i, ok := s.O.Graph.Index(id); ok {
				s.Withheld[i] = true
			}
		}
	})
}

// Fail ends the run with a failure of this machine.
func (s *State) Fail(err error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Broken = errors.Join(s.Broken, err)
	s.Announce()
}

// Instant returns now by both clocks. Round takes off the monotonic reading of time.Now, as days are compared by the wall clock.
func (s *State) Instant() clock.Instant { return clock.Instant{Day: s.Now().Round(0), Run: s.Ran()} }

// Since returns how long ago a time of an earlier run was, at least 0: that run's clock may have been wrong.
func (s *State) Since(day time.Time) time.Duration { return max(0, s.Now().Sub(day)) }

// Counts counts the tasks by status.
func (s *State) Counts() ending.Counts { return ending.CountsOf(s.store.Counts()) }

// Notify passes an update to the watcher, without secrets. The caller holds Mu, so the watcher is called once at a time.
func (s *State) Notify(u updates.Update) {
	if s.O.Notify == nil {
		return
	}
	u.At, u.Text = s.Now(), s.Redact.Text(u.Text)
	u.Counts = s.Counts()
	s.O.Notify(u)
}

// About fills in the task and the number of the attempt that an update is about.
func (s *State) About(t *epic.Task, record attempts.TaskRecord, u updates.Update) updates.Update {
	u.Task, u.Title, u.Max = t.ID, t.Title, s.O.Limits.AttemptsFor(t)
	u.Try = record.Charges()
	if u.Kind == updates.Started {
		u.Try++
	}
	return u
}

// PlanTasks makes the schedule of the wanted tasks from the ledger as it is now.
func (s *State) PlanTasks(wanted []bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.store.View(func(l *attempts.Ledger) {
		s.Plan = schedule.New(s.O.Epic, s.O.Graph, l, wanted).WithFileClaims(s.O.Isolation == engine.IsolationWorktree)
	})
	for _, i := range slices.Sorted(maps.Keys(s.Withheld)) {
		s.Plan.Withhold(i)
	}
	s.Step(s.Instant(), attempts.Step{Kind: attempts.StepPlanned})
}
