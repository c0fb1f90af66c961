package orchestrator

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/breaker"
	"relay/orchestrator/budget"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/orchestrator/runnerpool"
	"relay/orchestrator/schedule"
)

// run is one run: the schedule, the pool of runners and the ledger, and the workers that act on them. Everything
// below mu is decided under that one lock; a worker that has nothing to do holds no slot and waits for changed.
type run struct {
	o      *Options
	engine engine.Abilities
	store  *attempts.Store
	now    func() time.Time     // the day's clock
	ran    func() time.Duration // the run's clock
	up     func() time.Duration // a clock that goes on while the machine sleeps
	redact redact.Redactor
	begun  bool // run_started is in the log

	mu          sync.Mutex
	plan        *schedule.Schedule
	pool        *runnerpool.Pool
	changed     chan struct{} // closed and replaced at every change of state
	broken      error         // the run must end: the ledger or the engine failed
	lastWaiting Update        // the last UpdateWaiting
	lastRunner  string        // the runner that the last task without one of its own went to
	budget      *budget.Tracker
	stops       map[string]context.CancelCauseFunc // of the attempts that run, by task
	exhaustedBy *budget.ExhaustedError             // nothing more is started
	tally       Summary
	merges      *mergeQueue // nil: the engine's attempts end landed

	deadline  *clock.Deadline // nil: none
	stopped   stopReason      // its zero value: the run may go on
	unjudged  string          // why the reviewers were not asked about the whole epic
	breaker   breaker.Breaker
	uncharged int             // attempts that ended so in this run
	roomUntil *clock.Deadline // how long a machine that lacks room is still waited for; nil: it has room

	workers int   // still at work
	left    []job // attempts of a killed run that no worker has taken yet
}

func newRun(o *Options, store *attempts.Store, engine engine.Abilities) *run {
	n := &run{
		o: o, engine: engine, store: store, now: time.Now, ran: stopwatch(), up: upClock(), redact: redact.Redactor{Redactor: o.Secrets},
		changed: make(chan struct{}),
		stops:   make(map[string]context.CancelCauseFunc),
		breaker: breaker.New(breaker.Limits{SameError: o.Limits.SameError, InARow: o.Limits.FailedInARow, Pause: o.Limits.BackoffMax}),
	}
	store.View(func(l *attempts.Ledger) { n.budget = budget.New(o.Budget, o.Spent, l) })
	if !o.Until.IsZero() {
		now := n.instant()
		n.deadline = &clock.Deadline{Day: o.Until, Run: now.Run + o.Until.Sub(now.Day), Named: true}
	}
	n.pool = n.newPool()
	if engine.AskFirst != nil {
		engine.AskFirst(n.awaitsRunner)
	}
	if engine.Merger != nil {
		n.merges = &mergeQueue{merger: engine.Merger}
	}
	return n
}

// work carries the night through: it returns when nothing is left that could be started, or ctx is cancelled.
func (r *run) work(ctx context.Context) error {
	defer r.watchSleep(ctx)()
	ctx, over := r.untilDeadline(ctx)
	defer over()
	group, working := errgroup.WithContext(ctx)
	r.workers = r.o.Jobs
	for range r.o.Jobs {
		group.Go(func() error {
			defer r.workerDone()
			return r.worker(working)
		})
	}
	if r.merges != nil {
		group.Go(func() error { return r.runMergeQueue(working) })
	}
	err := group.Wait()
	switch {
	case atDeadline(ctx, err):
		return nil // what stopping does
	case err != nil || ctx.Err() != nil || r.drained() || r.closedEarly():
		return err
	}
	return r.noteStranded()
}

// closedEarly reports whether a limit of the run has ended it.
func (r *run) closedEarly() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped.reason != "" || r.exhaustedBy != nil
}

// noteStranded tells of the tasks that are ready still: the runner they insist on is out for this run, and others are not.
func (r *run) noteStranded() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.Sorted(r.plan.Ready())
	events := make([]attempts.Event, len(left))
	for at, i := range left {
		t := r.plan.Task(i)
		why := r.unable(t)
		note := &attempts.Note{Kind: "runner", Text: t.ID + " is left for another run, its runner cannot work: " + why}
		events[at] = attempts.Event{Type: attempts.TypeNote, Task: t.ID, Note: note}
		r.tell(Update{Kind: UpdateNote, Task: t.ID, Text: note.Text})
	}
	if len(events) == 0 {
		return nil
	}
	return r.store.Append(events...)
}

// worker takes one task after another.
func (r *run) worker(ctx context.Context) error {
	for {
		job, wait, err := r.nextJob(ctx)
		if err != nil || job == nil && wait == nil {
			return err
		}
		if job == nil {
			wait.wait(ctx, r.o.Drain)
			continue
		}
		work := job.adopt
		if work == nil {
			work = func(ctx context.Context) error { return r.attempt(ctx, *job) }
		}
		if err := work(ctx); err != nil {
			r.fail(err)
			return err
		}
	}
}

// drained reports whether somebody wants the run to start nothing more.
func (r *run) drained() bool {
	select {
	case <-r.o.Drain:
		return true
	default:
		return false
	}
}

// workerDone tells the others that this worker takes no more tasks.
func (r *run) workerDone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.workers--
	r.announce()
}

// fail ends the run for what went wrong on this machine.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = errors.Join(r.broken, err)
	r.announce()
}

// job is a task given to a worker, with the runner that shall do it.
type job struct {
	index  int
	runner string
	adopt  func(ctx context.Context) error // of an attempt that a killed run left open: brings it to its end; nil: a new attempt
	turn   string                          // why not the runner that had it before; "" : it is the same
}

// waiting says what a worker without a task waits for.
type waiting struct {
	changed <-chan struct{}
	rest    time.Duration // 0: only for a change
}

// longestPark bounds one wait for an opening: timers stand still while the machine sleeps, and the day does not.
const longestPark = time.Minute

// wait waits, but not beyond drain.
func (w *waiting) wait(ctx context.Context, drain <-chan struct{}) {
	var timeout <-chan time.Time
	if w.rest > 0 {
		timer := time.NewTimer(min(w.rest, longestPark))
		defer timer.Stop()
		timeout = timer.C
	}
	select {
	case <-ctx.Done():
	case <-drain:
	case <-w.changed:
	case <-timeout:
	}
}

// leftOpen takes the next attempt of a killed run, also when nothing new is started: its work is done and paid for. The caller
// holds mu.
func (r *run) leftOpen(ctx context.Context) *job {
	if ctx.Err() != nil || r.broken != nil || len(r.left) == 0 {
		return nil
	}
	first := r.left[0]
	r.left = r.left[1:]
	return &first
}

// claim returns a task, or what to wait for, or neither when this worker can go home.
func (r *run) nextJob(ctx context.Context) (*job, *waiting, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if left := r.leftOpen(ctx); left != nil {
		return left, nil, nil
	}
	now := r.instant()
	if ctx.Err() != nil || r.finished() {
		return nil, nil, nil
	}
	if wait, err := r.waitForBreaker(now); wait != nil || err != nil || r.stopped.reason != "" {
		return nil, wait, err
	}
	i, runner := r.choose(now)
	if i >= 0 {
		if rest := r.landsSoon(i, now.Run); rest > 0 {
			return nil, &waiting{changed: r.changed, rest: rest}, nil
		}
		if wait, err := r.waitForRoom(now); wait != nil || err != nil || r.stopped.reason != "" {
			return nil, wait, err
		}
		turn := ""
		if r.plan.MissingReviewers(i) == nil {
			turn = r.turn(i, runner, now)
		}
		r.askRunners(i, runner, now)
		r.plan.Start(i)
		r.breaker.Begin(i)
		return &job{index: i, runner: runner, turn: turn}, nil, nil
	}
	if r.plan.CountReady() == 0 {
		return nil, r.nothingReady(), nil
	}
	return r.idle(now)
}

// nothingReady returns what a worker waits for when no task is ready, nil when nothing can come any more. The caller holds mu.
func (r *run) nothingReady() *waiting {
	wait := &waiting{changed: r.changed}
	switch {
	case r.plan.CountRunning() > 0:
	case r.plan.RetryPostponed():
		r.announce() // everybody looks again at once
	default:
		return nil
	}
	return wait
}

// finished reports whether nothing more is to start, whatever is ready. The caller holds mu.
func (r *run) finished() bool {
	return r.broken != nil || r.drained() || r.stopped.reason != "" || r.exhausted()
}

// announce wakes the waiting workers. The caller holds mu.
func (r *run) announce() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// tell passes an update to whoever watches. The caller holds mu, so watchers hear one thing at a time.
func (r *run) tell(u Update) {
	if r.o.Notify == nil {
		return
	}
	u.At, u.Text = r.now(), r.redact.Text(u.Text)
	u.Counts = r.counts()
	r.o.Notify(u)
}

// instant is now by both clocks. Round takes off what time.Now has of the run's clock: days are compared as such.
func (r *run) instant() clock.Instant { return clock.Instant{Day: r.now().Round(0), Run: r.ran()} }
