package decide

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/verdict"
)

// Reasons that are limits of the run.
const (
	NoRunner         EndReason = "no_runner" // none is left to wait for
	Deadline         EndReason = "deadline"
	CircuitBreaker   EndReason = "circuit_breaker"
	UnchargedRetries EndReason = "uncharged_retries"
	DiskFloor        EndReason = "disk_floor"
	MemoryFloor      EndReason = "memory_floor"
)

// LimitAdvice says what a person can do after a limit has ended a run, by its reason.
var LimitAdvice = map[EndReason]string{
	Deadline:         "relay work continues from here; --until and relay.until set the deadline",
	CircuitBreaker:   "see relay show TASK for one of them, fix what they have in common, then relay work; relay.max_failed_in_a_row and relay.max_same_error are the limits",
	UnchargedRetries: "relay ledger log lists them; relay work continues, relay.max_uncharged_run is the limit",
	DiskFloor:        "make room, then relay work; relay.disk_floor_mib is the limit",
	MemoryFloor:      "end what else runs here, then relay work; relay.memory_floor_mib is the limit",
}

// Limits are the run's deadline, budget, circuit breaker and floors: they keep new attempts from starting, and stop those that
// are under way at the deadline or when a budget is exhausted. They are guarded by the lock of state.
type Limits struct {
	state  *State
	waiter *waiter

	Deadline  *limits.Deadline // nil: none
	Stopped   StopReason       // its zero value: the run may go on
	breaker   limits.Breaker
	uncharged int              // attempts that ended so in this run
	roomUntil *limits.Deadline // how long a machine that lacks room is still waited for; nil: it has room

	Budget      *limits.Tracker
	stops       map[string]context.CancelCauseFunc // of the attempts that run, by task
	ExhaustedBy *limits.ExhaustedError             // nothing more is started
	stopping    map[string]bool                    // of these, whom a person has stopped
	used        map[string]attempts.Usage          // what attempts under way have told to have used, by task
}

func newLimits(s *State, w *waiter, now limits.Instant) *Limits {
	m := &Limits{
		state: s, waiter: w, stops: make(map[string]context.CancelCauseFunc), stopping: make(map[string]bool),
		used: make(map[string]attempts.Usage),
		breaker: limits.NewBreaker(limits.BreakerLimits{
			SameError: s.O.Limits.SameError, InARow: s.O.Limits.FailedInARow,
			Pause: s.O.Limits.BackoffMax,
		}),
	}
	s.store.View(func(l *attempts.Ledger) { m.Budget = limits.NewTracker(s.O.Budget, s.O.Spent, l) })
	if !s.O.Until.IsZero() {
		m.Deadline = &limits.Deadline{Day: s.O.Until, Run: now.Run + s.O.Until.Sub(now.Day), Named: true}
	}
	return m
}

// StopReason is why a run starts nothing more although tasks are left. Attempts under way come to their end, except at the
// deadline.
type StopReason struct {
	Reason EndReason
	Why    string // in words
}

// stop makes the run start nothing more, and records why; the first reason stays. The caller holds Mu.
func (m *Limits) stop(now limits.Instant, reason EndReason, why string) error {
	if m.Stopped.Reason != "" {
		return nil
	}
	m.Stopped = StopReason{reason, why}
	m.state.Step(now, attempts.Step{Kind: attempts.StepStopped, For: string(reason)})
	m.state.Notify(Update{Kind: Stopping, Text: why})
	m.state.Announce()
	note := attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: "limit", Text: why}, Steps: m.state.TakeSteps()}
	return m.state.store.AppendLater(note)
}

// Expire stops the run at its deadline.
func (m *Limits) Expire() {
	m.state.Mu.Lock()
	err := m.stop(m.state.Instant(), Deadline, "the deadline has come: running attempts are asked to end, and their work is kept")
	m.state.Mu.Unlock()
	if err != nil {
		m.state.Fail(err)
	}
}

// pointless reports whether a wait would last beyond the run's deadline.
func (m *Limits) pointless(at limits.Deadline, now limits.Instant) bool {
	return m.Deadline != nil && at.Rest(now) >= m.Deadline.Rest(now)
}

// checkLimits tells the circuit breaker how an attempt has ended: it records that a completed task closes the breaker, and stops the run
// if a failure exhausts it. The caller holds Mu.
func (m *Limits) checkLimits(now limits.Instant, index int, a engine.Attempt, after verdict.After, e attempts.Ended) error {
	b := &m.breaker
	switch {
	case after.Task == verdict.TaskCompleted:
		if !b.Complete() {
			return nil
		}
		note := &attempts.Note{Kind: "limit", Text: a.Task.ID + " was completed: the run goes on"}
		m.state.Notify(Update{Kind: Note, Text: note.Text})
		return m.state.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
	case after.Blamed:
		f := limits.Failure{Task: index, ID: a.Task.ID, Gated: e.Gate != nil, Cause: attempts.Cause(e.Receipt), Message: e.Receipt.ErrorSummary}
		b.Fail(f, now)
		if b.Exhausted() {
			return m.stop(now, CircuitBreaker, b.ExhaustedReason())
		}
	}
	return nil
}

// countUncharged stops the run after too many attempts that ended through no fault of an agent. The caller holds Mu.
func (m *Limits) countUncharged(now limits.Instant, after verdict.After, e attempts.Ended, rule Ruling) error {
	if !after.Uncharged || rule.repeat {
		return nil
	}
	m.uncharged++
	if most := m.state.O.Limits.MaxUnchargedRun; most > 0 && m.uncharged >= most {
		return m.stop(now, UnchargedRetries, fmt.Sprintf("%d attempts of this run ended through no fault of an agent; the last: %s", m.uncharged, e.Receipt.ErrorSummary))
	}
	return nil
}

// CutShort reports whether a limit or the caller ends the run early.
func (m *Limits) CutShort() bool {
	m.state.Mu.Lock()
	defer m.state.Mu.Unlock()
	return m.Stopped.Reason != "" || m.state.Drained()
}

// ClosedEarly reports whether a limit or a budget has ended the run.
func (m *Limits) ClosedEarly() bool {
	m.state.Mu.Lock()
	defer m.state.Mu.Unlock()
	return m.Stopped.Reason != "" || m.ExhaustedBy != nil
}

// hold returns what to wait for before any task may start, or nil. It stops the run at a limit. The caller holds Mu.
func (m *Limits) hold(now limits.Instant) (*Waiting, error) {
	wait, err := m.waitForBreaker(now)
	if wait == nil && err == nil && m.Stopped.Reason == "" && m.full() {
		wait = &Waiting{Changed: m.state.Changed}
	}
	return wait, err
}

// waitForBreaker returns what to wait for while the circuit breaker keeps a task from starting, or nil. It stops the run if the
// pause would outlast the deadline. The caller holds Mu.
func (m *Limits) waitForBreaker(now limits.Instant) (*Waiting, error) {
	b := &m.breaker
	probe, probing := b.Probe()
	ok, rest := b.Admits(now, probing && m.state.Plan.IsRunning(probe))
	if ok || m.state.Plan.Ready.Len() == 0 {
		return nil, nil
	}
	if rest == 0 {
		return &Waiting{Changed: m.state.Changed}, nil
	}
	if m.state.Plan.CountRunning() == 0 && m.pointless(b.OpenUntil(), now) {
		return nil, m.stop(now, CircuitBreaker, b.Reason())
	}
	what := attempts.Waiting{Until: b.OpenUntil().Day.UTC(), For: "another try", Why: b.Reason()}
	err := m.waiter.notifyWaiting(now, Paused, "", what)
	return &Waiting{Changed: m.state.Changed, Rest: rest}, err
}

// full reports whether no other task may start beside those that run, after failures or as a cap nears. The caller holds Mu.
func (m *Limits) full() bool {
	running := m.state.Plan.CountRunning()
	return m.state.Plan.Failures.IsFull(running) || m.Budget.Short(running)
}

// RecordUsage records what an agent or a reviewer has used so far, and cancels an agent that exceeds a budget. A review of
// delivered work counts but is not cancelled, as that would waste verified work. The caller holds Mu.
func (m *Limits) RecordUsage(h engine.Event) {
	over := m.Budget.Record(h.Task, h.Usage)
	m.used[h.Task] = h.Usage
	stop := m.stops[h.Task]
	cuts := stop != nil && over != nil && !h.Delivered
	if cuts || m.ExhaustedBy == nil && m.Budget.Exhausted() != nil {
		m.state.Step(m.state.Instant(), m.usedStep(h.Task, cuts))
	}
	if cuts {
		stop(over)
	}
	m.Exhausted()
}

// usedStep returns the step in which the attempt at a task has used so much that something ends: the attempt itself if cuts.
func (m *Limits) usedStep(task string, cuts bool) attempts.Step {
	made := attempts.Step{Kind: attempts.StepUsed}
	for _, id := range slices.Sorted(maps.Keys(m.used)) {
		if id != task {
			made.Used = append(made.Used, attempts.TaskUsage{Task: id, Usage: m.used[id]})
		}
	}
	made.Used = append(made.Used, attempts.TaskUsage{Task: task, Usage: m.used[task]}) // the last is what matters
	if cuts {
		made.Task = task
	}
	return made
}

// settledStep returns the step in which an attempt is over that has used so much in the end, and that holds what it
// reported before if that was more.
func (m *Limits) settledStep(a engine.Attempt, used attempts.Usage) attempts.Step {
	made := attempts.Step{Kind: attempts.StepSettled, Task: a.Task.ID, Attempt: a.Number}
	if told, known := m.used[a.Task.ID]; known && (told.CostUSD > used.CostUSD || told.Uncached() > used.Uncached()) {
		made.Used = []attempts.TaskUsage{{Task: a.Task.ID, Usage: told}}
	}
	delete(m.used, a.Task.ID)
	return made
}

// Exhausted reports whether a budget keeps anything more from being started, and tells that once. The caller holds Mu.
func (m *Limits) Exhausted() bool {
	if m.ExhaustedBy == nil {
		if m.ExhaustedBy = m.Budget.Exhausted(); m.ExhaustedBy != nil {
			m.state.Step(m.state.Instant(), attempts.Step{Kind: attempts.StepExhausted})
		}
		if left := m.state.Counts(); m.ExhaustedBy != nil && left.Pending+left.Blocked > 0 {
			m.state.Notify(Update{Kind: Stopping, Text: m.ExhaustedBy.Error() + "; nothing new is started"})
		}
	}
	return m.ExhaustedBy != nil
}

// Begin has an attempt at a task, which had used so much before, count against the budgets; stop ends it. The caller holds Mu.
func (m *Limits) Begin(task *epic.Task, used attempts.Usage, stop context.CancelCauseFunc) {
	m.Budget.Begin(task, used)
	m.stops[task.ID] = stop
	if m.stopping[task.ID] { // while it was prepared
		stop(ErrStopped)
	}
}

// Over notes that a task has no attempt to stop any more. The caller holds Mu.
func (m *Limits) Over(task string) {
	delete(m.stops, task)
}

// Told notes what an attempt has told to have used, of which nothing follows by itself. The caller holds Mu.
func (m *Limits) Told(u attempts.TaskUsage) {
	_ = m.Budget.Record(u.Task, u.Usage)
	m.used[u.Task] = u.Usage
}

// Free is what a machine has left, in bytes; less than 0 if that is not known.
type Free struct{ Disk, Memory int64 }

// roomPause is how often the free disk and memory are measured while a run waits for them.
const roomPause = 10 * time.Second

// waitForRoom returns what to wait for when the machine has too little disk or memory for another attempt, or nil. A run without a
// deadline stops when that lasts longer than FloorWait. The caller holds Mu.
func (m *Limits) waitForRoom(now limits.Instant) (*Waiting, error) {
	reason, lacks, why := m.lacking()
	if reason == "" {
		m.roomUntil = nil
		return nil, nil
	}
	if m.roomUntil == nil {
		until := now.After(m.state.O.Limits.FloorWait)
		if m.Deadline != nil {
			until = *m.Deadline
		}
		m.roomUntil = &until
	}
	rest := m.roomUntil.Rest(now)
	if rest <= 0 && m.state.Plan.CountRunning() == 0 {
		return nil, m.stop(now, reason, why)
	}
	if rest <= 0 || rest > roomPause {
		rest = roomPause
	}
	err := m.waiter.notifyWaiting(now, Cramped, "", attempts.Waiting{Until: m.roomUntil.Day.UTC(), For: lacks, Why: why})
	return &Waiting{Changed: m.state.Changed, Rest: rest}, err
}

// lacking returns what the machine has too little of to start an attempt, "" if nothing.
func (m *Limits) lacking() (reason EndReason, lacks, why string) {
	lim := m.state.O.Limits
	if m.state.O.Free == nil || lim.DiskFloor <= 0 && lim.MemoryFloor <= 0 {
		return "", "", ""
	}
	free := m.state.O.Free()
	m.state.steps.free = &free
	switch {
	case free.Disk >= 0 && free.Disk < lim.DiskFloor:
		return DiskFloor, "room on the disk", short(free.Disk, lim.DiskFloor)
	case free.Memory >= 0 && free.Memory < lim.MemoryFloor:
		return MemoryFloor, "memory", short(free.Memory, lim.MemoryFloor)
	}
	return "", "", ""
}

func short(have, want int64) string {
	return fmt.Sprintf("%d MiB are free, and nothing is started below %d", have>>20, want>>20)
}

// Cramped reports whether the machine lacked room when it was last looked at. The caller holds Mu.
func (m *Limits) Cramped() bool { return m.roomUntil != nil }
