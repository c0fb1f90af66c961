package orchestrator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/records"
	"relay/orchestrator/secrets"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/telemetry"
	"relay/reanchor"

	"golang.org/x/sync/errgroup"
)

// run carries out one run: its workers and its merge queue act on what the parts below decide under the lock of state.
type run struct {
	state      *state
	limits     *decide.Limits
	dispatcher *decide.Dispatcher
	executor   *executor
	merges     *mergeQueue // nil: the engine's attempts end landed
	recovery   *recovery
	rechecker  *rechecker
	epicReview *epicReview
	listener   *listener
	requests   *requests
	keeper     *records.Keeper       // nil: no records are kept
	rows       *sessionkeeper.Keeper // nil: no agents ledger is kept
	export     *telemetry.Exporter   // nil: no telemetry is sent

	up      func() time.Duration // a clock that goes on while the machine sleeps
	started bool                 // run_started is in the log
}

func newRun(o *Options, store ledger, abilities engine.Abilities) *run {
	if abilities.Lifecycle == nil {
		abilities.Lifecycle = noLifecycle{}
	}
	began := time.Now()
	d := decide.New(o.settings(), decide.Inputs{
		Ledger: store, Now: time.Now, Ran: func() time.Duration { return time.Since(began) },
		Redact: secrets.Cleaner{Redactor: o.Secrets}, Merges: abilities.Merger != nil,
	})
	s := &state{State: d.State, o: o, engine: abilities, store: store, past: reanchor.NewRecordReader(o.Root, o.Epic.ID, time.Now)}
	c := &recorder{state: s, judge: d.Judge}
	r := &run{state: s, limits: d.Limits, dispatcher: d.Dispatcher, up: limits.UpClock()}
	if d.Queue != nil {
		r.merges = &mergeQueue{state: s, recorder: c, merger: abilities.Merger, queue: d.Queue}
	}
	r.recovery = &recovery{state: s, limits: d.Limits, dispatcher: d.Dispatcher, recorder: c, merges: r.merges}
	r.executor = &executor{state: s, limits: d.Limits, recorder: c, merges: r.merges}
	r.rechecker = &rechecker{state: s, limits: d.Limits}
	r.epicReview = &epicReview{state: s, limits: d.Limits, dispatcher: d.Dispatcher, recorder: c}
	r.listener = &listener{state: s, limits: d.Limits, phases: map[string]*phase{}}
	r.requests = &requests{state: s, of: d.Requests}
	if abilities.AskFirst != nil {
		abilities.AskFirst(r.executor.awaitsRunner)
	}
	return r
}

// rememberedCooldowns returns the runners whose cooldowns of earlier runs are not over: as events that lift these cooldowns with
// AskNow, else as notes for a person.
func (r *run) rememberedCooldowns() (events []attempts.Event, notes []string) {
	if r.state.o.AskNow {
		r.state.store.View(func(l *attempts.Ledger) {
			for _, name := range slices.Sorted(maps.Keys(l.Cooldowns)) {
				if l.Cooldowns[name].Until.After(r.state.Now()) {
					events = append(events, attempts.Event{Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: name, Why: "a person wants it asked at once"}})
				}
			}
		})
		return events, nil
	}
	now := r.state.Instant()
	for _, c := range r.state.Pool.Cooldowns(now) {
		notes = append(notes, fmt.Sprintf("%s is not asked before %s%s (relay work --ask-now asks it at once)",
			c.Runner, plaintext.LocalTime(c.Until), plaintext.Because(c.Why)))
	}
	return events, notes
}

// work runs the workers and the merge queue. It returns when nothing is left that could be started, or ctx is cancelled.
func (r *run) work(ctx context.Context) error {
	defer watchSleep(ctx, r.state, r.up)()
	ctx, over := untilDeadline(ctx, r.state, r.limits)
	defer over()
	group, working := errgroup.WithContext(ctx)
	r.state.Workers = r.state.o.Jobs
	for range r.state.o.Jobs {
		group.Go(func() error {
			defer r.state.WithLock(func() { r.state.Workers--; r.state.Announce() })
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
	case err != nil || ctx.Err() != nil || r.state.Drained() || r.limits.ClosedEarly():
		return err
	}
	return r.recordStranded()
}

// worker carries out one task after another until no more can be started.
func (r *run) worker(ctx context.Context) error {
	for {
		job, wait, err := r.dispatcher.NextJob(ctx)
		if err != nil || job == nil && wait == nil {
			return err
		}
		if job == nil && wait.Answer && r.rechecker.due(ctx) != "" { // what has landed is looked at before the run waits
			r.state.WithLock(func() { r.state.Resting = true })
			return nil
		}
		if job == nil {
			wait.Wait(ctx, r.state.o.Drain)
			continue
		}
		if job.Open != nil {
			err = r.recovery.recoverTask(ctx, *job.Open)
		} else {
			err = r.executor.carryOut(ctx, *job)
		}
		if err != nil {
			r.state.Fail(err)
			return err
		}
	}
}

// goesOn reports whether the workers begin again: because completed tasks are to be done again, as a person has had a task tried
// again that no worker has taken, or to wait for an answer. Otherwise the run comes to its end, and nothing more is asked of it.
func (r *run) goesOn(again bool) bool {
	s := r.state
	s.Mu.Lock()
	defer s.Mu.Unlock()
	over := s.Drained() || s.Broken != nil || r.limits.Stopped.Reason != "" || r.limits.ExhaustedBy != nil
	left := (s.Resting || s.Restored && s.Plan.Ready.Len() > 0) && !over
	s.Restored, s.Resting = false, false
	s.Closing = !again && !left
	return !s.Closing
}

// recordStranded records the tasks that are still ready when the workers have ended: the runner they name is out for this run.
func (r *run) recordStranded() error {
	r.state.Mu.Lock()
	defer r.state.Mu.Unlock()
	left := slices.Sorted(r.state.Plan.Ready.All())
	events := make([]attempts.Event, len(left))
	for at, i := range left {
		t := r.state.Plan.Task(i)
		why := r.dispatcher.Unable(t)
		note := &attempts.Note{Kind: "runner", Text: t.ID + " is left for another run, its runner cannot work: " + why}
		events[at] = attempts.Event{Type: attempts.TypeNote, Task: t.ID, Note: note}
		r.state.Notify(decide.Update{Kind: decide.Note, Task: t.ID, Text: note.Text})
	}
	if len(events) == 0 {
		return nil
	}
	return r.state.store.Append(events...)
}
