package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/readback"
	"relay/orchestrator/recordkeeper"
	"relay/orchestrator/redact"
	"relay/orchestrator/runnerpool"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/suspend"
	"relay/orchestrator/text"
	"relay/runners"
)

// run carries out one run: its workers and its merge queue act on what the parts below decide under the lock of state.
type run struct {
	state      *state
	limits     *limits
	dispatcher *dispatcher
	executor   *executor
	merges     *mergeQueue // nil: the engine's attempts end landed
	recovery   *recovery
	rechecker  *rechecker
	epicReview *epicReview
	keeper     *recordkeeper.Keeper  // nil: no records are kept
	rows       *sessionkeeper.Keeper // nil: no agents ledger is kept

	up      func() time.Duration // a clock that goes on while the machine sleeps
	started bool                 // run_started is in the log
}

func newRun(o *Options, store *attempts.Store, abilities engine.Abilities) *run {
	s := &state{
		o: o, engine: abilities, store: store, now: time.Now, ran: stopwatch(), redact: redact.Redactor{Redactor: o.Secrets},
		changed: make(chan struct{}), past: readback.New(o.Root, o.Epic.ID, time.Now),
	}
	r := assemble(s, abilities.Merger != nil)
	if r.merges != nil {
		r.merges.merger = abilities.Merger
	}
	if abilities.AskFirst != nil {
		abilities.AskFirst(r.dispatcher.awaitsRunner)
	}
	return r
}

// assemble makes the parts of a run, whose work lands on an integration branch if it merges.
func assemble(s *state, merges bool) *run {
	w := &waiter{state: s}
	now := s.instant()
	m := newLimits(s, w, now)
	s.pool = newPool(s, m.deadline, now)
	s.step(now, attempts.Step{Kind: attempts.StepBegun, Rules: s.rules(merges)})
	c := &recorder{state: s, limits: m}
	r := &run{state: s, limits: m, up: suspend.UpClock()}
	if merges {
		r.merges = &mergeQueue{state: s, recorder: c}
	}
	r.recovery = &recovery{state: s, limits: m, recorder: c, merges: r.merges}
	r.executor = &executor{state: s, limits: m, recorder: c, merges: r.merges}
	r.dispatcher = &dispatcher{state: s, limits: m, waiter: w, recovery: r.recovery, merges: r.merges}
	r.rechecker = &rechecker{state: s, limits: m}
	r.epicReview = &epicReview{state: s, limits: m, waiter: w, recorder: c}
	return r
}

// newPool makes the pool of runners, with the cooldowns and faults that the ledger has of earlier runs.
func newPool(s *state, deadline *clock.Deadline, now clock.Instant) *runnerpool.Pool {
	o := s.o
	pool := runnerpool.New(runnerpool.Options{
		Order: o.Runners, Panel: o.reviewerNames(), Backoff: o.Limits.Backoff, BackoffMax: o.Limits.BackoffMax, TaskFaults: o.Limits.TaskFaults,
		OutAfter: o.Limits.OutAfter, OutPeriod: o.Limits.OutPeriod, Deadline: deadline, Patience: o.Limits.Patience, Jitter: s.drawJitter(),
	})
	if !o.AskNow {
		s.store.View(func(l *attempts.Ledger) {
			pool.Learn(runnerpool.History(l))
			pool.Recall(l.Cooldowns, now)
		})
	}
	return pool
}

// rememberedCooldowns returns the runners that earlier runs were told not to ask yet: as events that lift these cooldowns with
// AskNow, else as notes for a person.
func (r *run) rememberedCooldowns() (events []attempts.Event, notes []string) {
	if r.state.o.AskNow {
		r.state.store.View(func(l *attempts.Ledger) {
			for _, name := range slices.Sorted(maps.Keys(l.Cooldowns)) {
				if l.Cooldowns[name].Until.After(r.state.now()) {
					events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: name, Why: "a person wants it asked at once"}})
				}
			}
		})
		return events, nil
	}
	now := r.state.instant()
	for _, c := range r.state.pool.Cooldowns(now) {
		notes = append(notes, fmt.Sprintf("%s is not asked before %s, as an earlier run was told%s; relay work --ask-now asks it at once",
			c.Runner, clockText(c.Until), text.Because(c.Why)))
	}
	return events, notes
}

// work runs the workers and the merge queue. It returns when nothing is left that could be started, or ctx is cancelled.
func (r *run) work(ctx context.Context) error {
	defer r.watchSleep(ctx)()
	ctx, over := r.limits.untilDeadline(ctx)
	defer over()
	group, working := errgroup.WithContext(ctx)
	r.state.workers = r.state.o.Jobs
	for range r.state.o.Jobs {
		group.Go(func() error {
			defer r.workerDone()
			return r.worker(working)
		})
	}
	if r.merges != nil {
		group.Go(func() error { return r.merges.land(working) })
	}
	err := group.Wait()
	switch {
	case atDeadline(ctx, err):
		return nil // what stopping does
	case err != nil || ctx.Err() != nil || r.state.drained() || r.limits.closedEarly():
		return err
	}
	return r.dispatcher.recordStranded()
}

// worker carries out one task after another until no more can be started.
func (r *run) worker(ctx context.Context) error {
	for {
		job, wait, err := r.dispatcher.nextJob(ctx)
		if err != nil || job == nil && wait == nil {
			return err
		}
		if job == nil {
			wait.wait(ctx, r.state.o.Drain)
			continue
		}
		work := job.recover
		if work == nil {
			work = func(ctx context.Context) error { return r.executor.carryOut(ctx, *job) }
		}
		if err := work(ctx); err != nil {
			r.state.fail(err)
			return err
		}
	}
}

// workerDone takes a worker that has ended off the count.
func (r *run) workerDone() {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	r.state.workers--
	r.state.announce()
}

// listen takes the engine's events until the channel is closed: usage to the limits, faults to the pool, the rest to the
// watcher.
func (r *run) listen(events <-chan engine.Event) {
	for e := range events {
		if r.state.o.Wire != nil {
			e = r.state.o.Wire.Event(e)
		}
		if e.Kind == engine.KindBriefed {
			r.recordBriefed(e)
			continue
		}
		r.state.withLock(func() {
			switch e.Kind {
			case engine.KindUsage:
				r.limits.recordUsage(e)
				return
			case engine.KindFault:
				now := r.state.instant()
				r.state.pool.MarkSuspect(e.Runner, e.Task, now)
				r.state.step(now, attempts.Step{Kind: attempts.StepSuspected, Task: e.Task, Runner: e.Runner})
				return
			default: // the others are progress
			}
			r.recordProgress(e)
			if e.Task == engine.WholeEpic {
				e.Task = "the epic"
			}
			r.state.notify(Update{Kind: UpdateKind(e.Kind), Task: e.Task, Text: e.Detail.Text})
		})
	}
}

// recordBriefed writes what an attempt's brief holds.
func (r *run) recordBriefed(e engine.Event) {
	if e.Briefed == nil {
		return
	}
	briefed := r.state.redact.Briefed(*e.Briefed)
	// What the log has of it matters to nobody's decision; a ledger that failed says so where it does.
	_ = r.state.store.AppendLater(attempts.Event{Type: attempts.TypeBriefed, Task: e.Task, Attempt: e.Attempt, Briefed: briefed})
}

// recordProgress tells the pool that an agent has answered: its runner serves. The caller holds mu.
func (r *run) recordProgress(e engine.Event) {
	answered := e.Kind == engine.KindActivity && (e.Detail.Kind == runners.EventText || e.Detail.Kind == runners.EventTool)
	now := r.state.instant()
	if answered && r.state.pool.NoteActivity(e.Runner, e.Task, now) {
		r.state.step(now, attempts.Step{Kind: attempts.StepAnswered, Task: e.Task, Runner: e.Runner})
		r.state.announce()
	}
}

// watchSleep records the times in which the machine sleeps during the run, until over is called.
func (r *run) watchSleep(ctx context.Context) (over func()) {
	ctx, cancel := context.WithCancel(ctx)
	d := suspend.NewDetector(r.up, r.state.instant())
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(suspend.Interval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				r.slept(d)
				return
			case <-tick.C:
				r.slept(d)
			}
		}
	})
	return func() { cancel(); watch.Wait() }
}

// slept records and tells a suspend, if there was one.
func (r *run) slept(d *suspend.Detector) {
	r.state.mu.Lock()
	defer r.state.mu.Unlock()
	suspended, yes := d.Detect(r.state.instant())
	if !yes {
		return
	}
	r.state.summary.Suspends = append(r.state.summary.Suspends, suspended)
	note := &attempts.Note{Kind: "sleep", Text: suspended.String()}
	r.state.notify(Update{Kind: UpdateNote, Text: note.Text})
	// What the log has of it matters to nobody's decision; a ledger that failed says so where it does.
	_ = r.state.store.AppendLater(attempts.Event{Type: attempts.TypeNote, Note: note})
}
