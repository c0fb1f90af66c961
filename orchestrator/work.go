package orchestrator

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"relay/attempts"
	"relay/orchestrator/engine"
	"relay/orchestrator/runlock"
	"relay/orchestrator/schedule"
	"relay/orchestrator/seal"
	"relay/orchestrator/secrets"
	"relay/orchestrator/text"
	"relay/orchestrator/worker"
	"relay/runners/process"
)

// Work runs the epic until nothing is left to do, or ctx is cancelled (with ErrInterrupted when a person asked). The
// error is nil when the run came to its own end, whatever became of the tasks; Summary is filled either way.
//
// Errors: *attempts.HeldError when another run holds the epic, *InUseError when one has the checkout, or
// an epic of that id in another one, *attempts.EditedError when somebody edited the ledger, *text.RefusedError when the
// checkout cannot be worked in, *NoRunnerError when no agent is left; others are failures of this machine.
func Work(ctx context.Context, o Options) (Summary, error) {
	start := time.Now()
	if o.Run == "" {
		o.Run = attempts.NewRunID(start.UTC(), rand.Reader)
	}
	if o.Isolation == engine.IsolationNone || o.Jobs < 1 {
		o.Jobs = 1
	}
	wanted, err := schedule.Select(o.Graph, o.Tasks)
	if err != nil {
		return Summary{Run: o.Run}, err
	}
	if o.Secrets == nil {
		o.Secrets = secrets.New(o.Env)
	}
	events := make(chan engine.Event, 256)
	c, err := worker.Open(ctx, o.engine(), events)
	if err != nil {
		return Summary{Run: o.Run}, err
	}
	here, err := runlock.Acquire(ctx, o.engine())
	if err != nil {
		return Summary{Run: o.Run}, err
	}
	defer func() { _ = here.Release() }() // a lock that stays behind is one of a run that is over
	var warnings []string
	store, err := openLedger(&o, func(text string) { warnings = append(warnings, text) })
	if err != nil {
		return Summary{Run: o.Run}, err
	}
	c.Remember(store, here)
	abilities := c.Abilities
	if o.Wire != nil {
		abilities = o.Wire.Engine(abilities)
	}
	n := newRun(&o, store, abilities)
	listener := make(chan struct{})
	go func() {
		defer close(listener)
		n.listen(events)
	}()
	err = n.run(ctx, wanted, warnings)
	close(events)
	<-listener
	return n.finish(ctx, wanted, start, err)
}

// openLedger opens the epic's memory, and begins one for a plan that somebody wrote by hand.
func openLedger(o *Options, warn func(string)) (*attempts.Store, error) {
	return attempts.Open(attempts.Options{
		Dir: o.Dir, Epic: o.Epic, Graph: o.Graph, Run: o.Run, Fresh: &o.Settings, Now: time.Now, Fault: o.Fault, Warn: warn,
	})
}

// run is the night between opening and closing the ledger.
func (r *run) run(ctx context.Context, wanted []bool, warnings []string) error {
	orphans, c := r.openAttempts(), r.engine.Lifecycle
	var refused error
	r.store.View(func(l *attempts.Ledger) {
		warnings = append(warnings, seal.Changes(r.o.Epic, r.o.Dir, l)...)
		refused = c.Admit(ctx, l, attemptsOf(orphans))
	})
	if refused != nil {
		return refused
	}
	left := len(orphans) > 0 || c.Unclean()
	if err := r.open(ctx, c.Origin(), warnings); err != nil {
		return err
	}
	if left {
		notes, err := c.CleanAfter(ctx)
		if err := errors.Join(err, r.recordNotes(notes)); err != nil {
			return err
		}
		if err := c.Awake(ctx); err != nil {
			return err
		}
		if r.merges == nil { // there is one place to work in: nothing can begin in it before
			if err := r.recoverAll(ctx, orphans); err != nil {
				return err
			}
		}
		if err := c.Settle(ctx); err != nil {
			return err
		}
	}
	if err := c.Begin(ctx); err != nil {
		return err
	}
	r.schedule(wanted)
	if r.merges != nil {
		r.queueOpenAttempts(orphans)
	}
	for again := true; again; {
		if err := r.work(ctx); err != nil {
			return err
		}
		var err error
		if again, err = r.recheck(ctx, wanted); err != nil {
			return err
		}
	}
	return r.reviewEpic(ctx)
}

// schedule plans the tasks that are to be done, by what the ledger says of them now.
func (r *run) schedule(wanted []bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.store.View(func(l *attempts.Ledger) {
		r.plan = schedule.New(r.o.Epic, r.o.Graph, l, wanted).WithFileClaims(r.o.Isolation == engine.IsolationWorktree)
	})
}

// open makes the run known: its first event, the plan it follows, and the end of whatever an earlier run left alive.
func (r *run) open(ctx context.Context, origin attempts.Integration, warnings []string) error {
	folder := filepath.Join(r.o.Dir, "runs", r.o.Run)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "epic.yml"), r.o.Plan, 0o600); err != nil {
		return err
	}
	events := []attempts.Event{{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{
		Version: attempts.LogVersion, EpicID: r.o.Epic.ID, PID: os.Getpid(), Jobs: r.o.Jobs, Settings: r.o.Settings,
		Integration: origin.Branch, Branch: origin.From, Base: origin.Base, Sealed: seal.Epic(r.o.Epic), Until: r.o.Until.UTC(), Tasks: r.o.Tasks,
	}}}
	ended, err := r.sweep(ctx)
	if err != nil {
		warnings = append(warnings, "could not look for processes of earlier runs: "+err.Error())
	}
	if ended > 0 {
		warnings = append(warnings, "ended "+text.Processes(ended)+" that an earlier run had left")
	}
	note := func(kind string, texts []string) {
		for _, text := range texts {
			events = append(events, attempts.Event{Type: attempts.TypeNote, Note: &attempts.Note{Kind: kind, Text: r.redact.Text(text)}})
		}
	}
	note("plan", r.o.Remarks)
	note("recovery", warnings)
	forgotten, closed := r.rememberedCooldowns()
	events = append(events, forgotten...)
	note("limit", closed)
	if err := r.store.Append(events...); err != nil {
		return err
	}
	r.begun = true
	r.withLock(func() {
		r.tell(Update{Kind: UpdateRun, Text: r.o.Run, Budget: r.budget.Summary()})
		for _, text := range slices.Concat(r.o.Remarks, warnings, closed) {
			r.tell(Update{Kind: UpdateNote, Text: text})
		}
	})
	return nil
}

// sweep ends processes that carry the mark of an earlier run of this ledger. The lock is held: no such run is alive.
func (r *run) sweep(ctx context.Context) (int, error) {
	if runs, err := os.ReadDir(filepath.Join(r.o.Dir, "runs")); err == nil && len(runs) == 1 {
		return 0, nil // it is this one: there was none before
	}
	return process.Sweep(ctx, func(mark string) bool {
		run, _, _ := engine.CutMark(mark)
		if run == "" || run == r.o.Run {
			return false
		}
		_, err := os.Stat(filepath.Join(r.o.Dir, "runs", run))
		return err == nil
	}, r.o.Limits.StopGrace)
}

// finish writes the last event, closes the ledger and sums up.
func (r *run) finish(ctx context.Context, wanted []bool, start time.Time, err error) (Summary, error) {
	s := r.tally
	s.Run, s.Elapsed, s.Counts = r.o.Run, time.Since(start), r.counts()
	r.store.View(func(l *attempts.Ledger) { s.Left, s.Doubtful = left(r.o, l, wanted), doubtful(r.o, l, wanted) })
	err = r.ending(ctx, &s, err)
	code := 0
	if r.o.ExitCode != nil {
		code = r.o.ExitCode(s, err)
	}
	var clearing errgroup.Group
	if err == nil { // else the next run may need the copy of .git
		clearing.Go(func() error { return r.cleared(ctx) })
	}
	if r.begun {
		// A ledger that failed says so again here; the first error is the one that matters.
		stop := r.store.Append(attempts.Event{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{ExitCode: code, Reason: string(s.Reason), Why: s.Why, Tip: s.Tip, Relapsed: s.Relapsed}})
		if err == nil {
			err = stop
		}
	}
	if closing := r.store.Close(); err == nil {
		err = closing
	}
	if cleared := clearing.Wait(); err == nil {
		err = cleared
	}
	return s, err
}

// ending says why the run is over. What stopping does is no error.
func (r *run) ending(ctx context.Context, s *Summary, err error) error {
	switch {
	case err != nil && context.Cause(ctx) == nil:
		s.Reason = failure(err)
	case ctx.Err() != nil:
		s.Reason = Interrupted
		switch cause := context.Cause(ctx); {
		case !errors.Is(cause, ErrInterrupted):
			return cause
		case errors.Is(err, cause) || errors.Is(err, context.Canceled): // anything else went wrong besides
			return nil
		}
	case r.drained():
		s.Reason = Reload
	case s.Counts.Completed == s.Counts.Total:
		if s.Reason, s.Why = r.epicReason(); s.Reason == EpicComplete && len(s.Undone) > 0 {
			s.Reason, s.Why = EpicUndone, "what landed later made checks of these fail: "+text.Listed(s.Undone)
		}
	case r.stopped.reason != "" && s.Left > 0:
		s.Reason, s.Why = r.stopped.reason, r.stopped.why
	case r.exhaustedBy != nil && r.plan.CountReady() > 0:
		s.Reason, s.Why = BudgetExhausted, r.budget.Exhausted().Error()
	default:
		s.Reason = NoRunnableTasks
	}
	s.noteDoubtful()
	return err
}

// failure is the reason of a run that an error has ended.
func failure(err error) Reason {
	if errors.As(err, new(*NoRunnerError)) {
		return NoRunner
	}
	return Failed
}

// cleared removes what the run needed for itself, and tells of what it could not.
func (r *run) cleared(ctx context.Context) error {
	stay, err := r.engine.Lifecycle.Close(ctx)
	r.withLock(func() {
		for _, text := range stay {
			r.tell(Update{Kind: UpdateNote, Text: text + "; relay clean looks at it again"})
		}
	})
	return err
}

func left(o *Options, l *attempts.Ledger, wanted []bool) int {
	count := 0
	for i := range o.Graph.Len() {
		rec := l.Tasks[o.Graph.ID(i)]
		if (wanted == nil || wanted[i]) && (rec == nil || !rec.Completed) {
			count++
		}
	}
	return count
}
