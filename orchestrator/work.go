package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/epic/each"
	"relay/epic/plaintext"
	"relay/orchestrator/bench"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/relayfiles"
	"relay/orchestrator/schedule"
	"relay/orchestrator/secrets"
	"relay/orchestrator/sessionkeeper"
	"relay/orchestrator/telemetry"
	"relay/runners/process"
)

// Work runs the epic until nothing is left to do, or ctx is cancelled (with ErrInterrupted when a person asked). The
// error is nil when the run came to its own end, whatever became of the tasks; Summary is filled either way.
//
// Errors: *attempts.HeldError when another run holds the epic, *InUseError when one has the checkout, or
// an epic of that id in another one, *attempts.EditedError when somebody edited the ledger, *attempts.RefusedError when the
// checkout cannot be worked in, *NoRunnerError when no agent is left; others are failures of this machine.
func Work(ctx context.Context, o Options) (decide.Summary, error) {
	start := time.Now()
	if o.Run == "" {
		o.Run = attempts.NewRunID(start)
	}
	if o.Isolation == engine.IsolationNone || o.Jobs < 1 {
		o.Jobs = 1
	}
	wanted, err := schedule.Select(o.Graph, o.Tasks)
	if err != nil {
		return decide.Summary{Run: o.Run}, err
	}
	if o.Secrets == nil {
		o.Secrets = secrets.New(o.Env)
	}
	o.Trace = o.Telemetry.TraceOf(o.Dir, o.Run)
	events := make(chan engine.Event, 256)
	abilities, err := o.OpenEngine(ctx, events)
	if err != nil {
		return decide.Summary{Run: o.Run}, err
	}
	here, err := relayfiles.AcquireRun(ctx, &o.LocalOptions)
	if err != nil {
		return decide.Summary{Run: o.Run}, err
	}
	defer func() { _ = here.Release() }() // a lock that stays behind is one of a run that is over
	var warnings []string
	var n *run
	warns := func(text string) { warn(n.state, text) }
	keeper := newKeeper(&o, warns)
	o.Sessions.Run, o.Sessions.Warn = o.Run, warns
	rows := sessionkeeper.New(o.Sessions)
	export := telemetry.New(o.Telemetry, telemetry.Run{Trace: o.Trace, ID: o.Run, Epic: o.Epic, Relay: o.Relay})
	durable := func(events []attempts.Event) { keeper.Add(events); rows.Add(events); export.Add(events) }
	store, err := openLedger(&o, durable, func(text string) { warnings = append(warnings, text) })
	if err != nil {
		return decide.Summary{Run: o.Run}, err
	}
	if keeps, ok := abilities.Engine.(keepsLedger); ok {
		keeps.SetLedger(store, here)
	}
	if o.Wire != nil {
		abilities = o.Wire.Engine(abilities)
	}
	o.Notify = export.Watch(o.Notify)
	store.View(func(l *attempts.Ledger) { export.Start(ctx, l) })
	n = newRun(&o, store, abilities)
	n.keeper, n.rows, n.export = keeper, rows, export
	keeper.Start(store.Seq())
	rows.Start(ctx)
	listener := make(chan struct{})
	go func() {
		defer close(listener)
		n.listener.listen(events)
	}()
	err = n.run(ctx, wanted, warnings)
	close(events)
	<-listener
	return n.finish(ctx, wanted, start, err)
}

// openLedger opens the epic's ledger, or makes one for a plan that was written by hand.
func openLedger(o *Options, durable func([]attempts.Event), warn func(string)) (*attempts.Store, error) {
	return attempts.Open(attempts.Options{
		Dir: o.Dir, Epic: o.Epic, Graph: o.Graph, Run: o.Run, Fresh: &o.Settings, Now: time.Now, Fault: o.Fault, Warn: warn,
		Durable: durable, Relay: o.Relay, Plan: o.Seen, Head: o.Head,
	})
}

// run carries the run out between opening and closing the ledger.
func (r *run) run(ctx context.Context, wanted []bool, warnings []string) error {
	open, c := decide.OpenAttempts(r.state.o.Graph, r.state.store), r.state.engine.Lifecycle
	var refused error
	r.state.store.View(func(l *attempts.Ledger) {
		warnings = append(warnings, SealChanges(r.state.o.Epic, r.state.o.Dir, l)...)
		refused = c.Admit(ctx, l, bench.OpenAttempts(r.state.o.Graph, l))
	})
	if refused != nil {
		return refused
	}
	left := len(open) > 0
	if err := r.open(ctx, c.Origin(), warnings); err != nil {
		return err
	}
	if left {
		if err := c.Awake(ctx); err != nil {
			return err
		}
		if r.merges == nil { // there is one place to work in: nothing can begin in it before
			if err := r.recovery.recoverAll(ctx, open); err != nil {
				return err
			}
		}
		if err := c.CheckReady(ctx); err != nil {
			return err
		}
	}
	if err := c.Begin(ctx); err != nil {
		return err
	}
	if err := follow(ctx, r, wanted); err != nil {
		return err
	}
	r.state.PlanTasks(wanted)
	if r.merges != nil {
		r.recovery.queueOpenAttempts(open)
	}
	defer r.requests.heed(ctx)()
	for again := true; again; {
		if err := r.work(ctx); err != nil {
			return err
		}
		undone, err := r.rechecker.recheck(ctx, wanted)
		if err != nil {
			return err
		}
		again = r.goesOn(undone)
	}
	return r.epicReview.review(ctx)
}

// open records the start of the run and the plan it follows, and ends processes that an earlier run has left.
func (r *run) open(ctx context.Context, origin attempts.Integration, warnings []string) error {
	folder := filepath.Join(r.state.o.Dir, "runs", r.state.o.Run)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "epic.yml"), r.state.o.Plan, 0o600); err != nil {
		return err
	}
	if len(r.state.o.Effective) > 0 {
		if err := os.WriteFile(filepath.Join(folder, "settings.yml"), r.state.o.Effective, 0o600); err != nil {
			return err
		}
	}
	events := []attempts.Event{{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{
		Version: attempts.LogVersion, EpicID: r.state.o.Epic.ID, PID: os.Getpid(), Jobs: r.state.o.Jobs, Settings: r.state.o.Settings,
		Integration: origin.Branch, Branch: origin.From, Base: origin.Base,
		Sandbox: r.state.o.HeldBy, Outside: each.Of(r.state.o.Bare, r.state.Redact.Text), Sealed: SealEpic(r.state.o.Epic),
		Until: r.state.o.Until.UTC(), Tasks: r.state.o.Tasks, Relay: r.state.o.Relay, Tip: tip(ctx, r.state.engine.Lifecycle),
		Handoff: secrets.Clean(r.state.Redact, r.state.past.Unanswered()),
	}}}
	setRemote(ctx, r.state, events[0].RunStarted)
	ended, err := r.sweep(ctx)
	if err != nil {
		warnings = append(warnings, "could not look for processes of earlier runs: "+err.Error())
	}
	if ended > 0 {
		warnings = append(warnings, "ended "+plaintext.Processes(ended)+" that an earlier run had left")
	}
	note := func(kind string, texts []string) {
		for _, text := range texts {
			events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: kind, Text: r.state.Redact.Text(text)}})
		}
	}
	note("plan", r.state.o.Remarks)
	note("recovery", warnings)
	forgotten, closed := r.rememberedCooldowns()
	events = append(events, forgotten...)
	note("limit", closed)
	if err := r.state.store.Append(r.state.CarrySteps(events...)...); err != nil {
		return err
	}
	r.started = true
	r.state.WithLock(func() {
		r.state.Notify(decide.Update{
			Kind: decide.UpdateRun, Text: r.state.o.Run, Budget: r.limits.Budget.Summary(), Usage: r.state.o.Spent,
		})
		for _, text := range slices.Concat(r.state.o.Remarks, warnings, closed) {
			r.state.Notify(decide.Update{Kind: decide.Note, Text: text})
		}
	})
	return nil
}

// sweep ends processes that carry the mark of an earlier run of this ledger, and returns how many. The lock is held, so no such run is
// alive. With another engine a host on this machine may be at work on an attempt, and the run attaches to that.
func (r *run) sweep(ctx context.Context) (int, error) {
	if cmp.Or(r.state.o.Engine, engine.Local) != engine.Local {
		return 0, nil
	}
	if runs, err := os.ReadDir(filepath.Join(r.state.o.Dir, "runs")); err == nil && len(runs) == 1 {
		return 0, nil // it is this one: there was none before
	}
	return process.Sweep(ctx, func(mark string) bool {
		run, _, _ := engine.CutMark(mark)
		if run == "" || run == r.state.o.Run {
			return false
		}
		_, err := os.Stat(filepath.Join(r.state.o.Dir, "runs", run))
		return err == nil
	}, r.state.o.Limits.StopGrace)
}

// finish writes the last event, closes the ledger and sums up.
func (r *run) finish(ctx context.Context, wanted []bool, start time.Time, err error) (decide.Summary, error) {
	s := r.state.Summary
	s.Run, s.Elapsed, s.Counts = r.state.o.Run, time.Since(start), r.state.Counts()
	r.state.store.View(func(l *attempts.Ledger) {
		s.Left, s.Looks = decide.TasksLeft(r.state.o.Graph, l, wanted), decide.TasksToLookAt(r.state.o.Graph, l, wanted)
	})
	err = r.ending(ctx, &s, err)
	code := 0
	if r.state.o.ExitCode != nil {
		code = r.state.o.ExitCode(s, err)
	}
	lost := r.lost(ctx)
	var clearing errgroup.Group
	if err == nil { // else the next run may need the copy of .git
		clearing.Go(func() error { return r.cleared(ctx) })
	}
	if r.started {
		// A ledger that failed says so again here; the first error is the one that matters.
		stopped := attempts.Event{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{
			ExitCode: code, Reason: string(s.Reason), Why: s.Why, Tip: s.Tip, Regressed: s.Regressed, Head: tip(ctx, r.state.engine.Lifecycle),
		}}
		if stop := r.state.store.Append(r.state.CarrySteps(append(lost, stopped)...)...); err == nil {
			err = stop
		}
	}
	var closing sync.WaitGroup
	closing.Go(func() { r.rows.Close(ctx) }) // both wait for the disk
	closing.Go(func() {
		if lost := r.export.Close(); lost != "" {
			warn(r.state, lost)
		}
	})
	r.keeper.Close()
	closing.Wait()
	if err == nil {
		compressTranscripts(ctx, r.state)
	}
	if closeErr := r.state.store.Close(); err == nil {
		err = closeErr
	}
	if cleared := clearing.Wait(); err == nil {
		err = cleared
	}
	return s, err
}

// ending fills in why the run is over. It returns err, or nil for an error that only comes from stopping.
func (r *run) ending(ctx context.Context, s *decide.Summary, err error) error {
	switch {
	case err != nil && context.Cause(ctx) == nil:
		s.Reason = failure(err)
	case ctx.Err() != nil:
		s.Reason = decide.Interrupted
		switch cause := context.Cause(ctx); {
		case !errors.Is(cause, ErrInterrupted):
			return cause
		case errors.Is(err, cause) || errors.Is(err, context.Canceled): // anything else went wrong besides
			return nil
		}
	case r.state.Drained():
		s.Reason = decide.Reload
	case s.Counts.Completed == s.Counts.Total:
		if s.Reason, s.Why = r.epicReview.reason(); s.Reason == decide.EpicComplete && len(s.Undone) > 0 {
			s.Reason, s.Why = decide.EpicUndone, "what landed later made checks of these fail: "+plaintext.Listed(s.Undone)
		}
	case r.limits.Stopped.Reason != "" && s.Left > 0:
		s.Reason, s.Why = r.limits.Stopped.Reason, r.limits.Stopped.Why
	case r.limits.ExhaustedBy != nil && r.state.Plan.Ready.Len() > 0:
		s.Reason, s.Why = decide.BudgetExhausted, r.limits.Budget.Exhausted().Error()
	default:
		s.Reason = decide.NoRunnableTasks
	}
	s.NoteLooks()
	return err
}

// lost notes what differs from the beginning of the run beside its work.
func (r *run) lost(ctx context.Context) (events []attempts.Event) {
	if r.state.engine.Lost == nil {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), lostWall)
	defer stop()
	notes, err := r.state.engine.Lost(ctx)
	if err != nil {
		notes = append(notes, attempts.Note{Kind: "checkout", Text: "relay could not compare your checkout with what it was: " + err.Error()})
	}
	r.state.WithLock(func() {
		for _, n := range notes {
			n.Text = r.state.Redact.Text(n.Text)
			events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &n})
			r.state.Notify(decide.Update{Kind: decide.Note, Text: n.Text})
		}
	})
	return events
}

// lostWall bounds how long the end of a run waits for that.
const lostWall = time.Minute

// cleared removes what the run needed for itself, and tells what could not be removed.
func (r *run) cleared(ctx context.Context) error {
	stay, err := r.state.engine.Lifecycle.Close(ctx)
	r.state.WithLock(func() {
		for _, text := range stay {
			r.state.Notify(decide.Update{Kind: decide.Note, Text: text + "; relay clean looks at it again"})
		}
	})
	return err
}

// failure returns the reason of a run that an error has ended.
func failure(err error) decide.EndReason {
	if errors.As(err, new(*decide.NoRunnerError)) {
		return decide.NoRunner
	}
	return decide.Failed
}
