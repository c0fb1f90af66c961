package orchestrator

import (
	"context"
	"fmt"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/budget"
	"relay/orchestrator/clock"
	"relay/orchestrator/engine"
	"relay/orchestrator/redact"
	"relay/orchestrator/replay"
	"relay/orchestrator/schedule"
	"relay/orchestrator/secrets"
)

// Recorded is a run that is to be decided anew.
type Recorded struct {
	Run   string
	Epic  *epic.Epic // the plan it went by
	Graph *epic.Graph
	// Events calls f with every event of the epic, in order, at least up to the end of the run. See [attempts.Replay].
	Events func(f func(attempts.Event) error) error
}

// Replay makes the decisions of a recorded run anew, with the code that a run makes them with: at the recorded times, with the recorded
// ends of attempts. Where it decides otherwise that is a difference, and it goes on from what was recorded.
func Replay(ctx context.Context, rec Recorded) (*replay.Report, error) {
	return replayWith(ctx, rec, theCode())
}

// decideFunc is [dispatcher.decide].
type decideFunc func(d *dispatcher, now clock.Instant) (choice, *waiting, error)

// code is what decides, or what a test has in its place.
type code struct {
	decide   decideFunc
	together func(q *mergeQueue, due []queued) int
	fewer    func(red int) int
}

func theCode() code { return code{(*dispatcher).decide, (*mergeQueue).together, schedule.LandFewer} }

func replayWith(ctx context.Context, rec Recorded, with code) (*replay.Report, error) {
	r := &replayer{
		ctx: ctx, rec: rec, code: with, report: replay.New(rec.Run), memory: &replayedLedger{Memory: attempts.NewMemory(rec.Graph)},
		last: map[string]judged{},
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.drive()
	r.countUnchecked()
	return r.report, nil
}

// replayer decides a recorded run anew. It is used by one goroutine.
type replayer struct {
	code

	ctx    context.Context //nolint:containedctx // of one call of Replay
	rec    Recorded
	report *replay.Report
	memory *replayedLedger
	log    replayLog

	run     *run
	at      clock.Instant
	drawn   []int64
	free    Free
	wanted  []bool
	open    []openAttempt
	last    map[string]judged // by task: its attempt that ended last
	waiting []string          // what could land, …
	group   int               // … so many of it together
	over    bool
	stopped bool // nothing more starts, by a limit or a budget
}

// judged is an attempt whose end was decided on.
type judged struct {
	attempt engine.Attempt
	result  engine.Result
	ended   attempts.Ended
	rule    runnerRuling
}

// replayedLedger is the ledger of a replay: of what the run would write it keeps the steps, as what it did write is folded.
type replayedLedger struct {
	*attempts.Memory
	steps []attempts.Step
}

// AppendLater keeps the steps of events.
func (l *replayedLedger) AppendLater(events ...attempts.Event) error {
	for _, e := range events {
		l.steps = append(l.steps, e.Steps...)
	}
	return nil
}

// Append is AppendLater.
func (l *replayedLedger) Append(events ...attempts.Event) error { return l.AppendLater(events...) }

// AppendWhile is AppendLater, and does not call its function.
func (l *replayedLedger) AppendWhile(_ func(), events ...attempts.Event) error {
	return l.AppendLater(events...)
}

// Close does nothing.
func (*replayedLedger) Close() error { return nil }

// Learned returns nothing: no brief is written.
func (*replayedLedger) Learned(int) []int { return nil }

// made returns the steps that were made anew since setMade.
func (r *replayer) made() []attempts.Step {
	return slices.Concat(r.memory.steps, r.run.state.steps.untold)
}

// setMade has these be the steps that were made anew.
func (r *replayer) setMade(steps ...attempts.Step) {
	r.memory.steps, r.run.state.steps.untold = steps, nil
}

// read reads the log: what came before the run is folded, its own events are kept by what they are about.
func (r *replayer) read() error {
	err := r.rec.Events(func(e attempts.Event) error {
		switch {
		case e.Run == r.rec.Run:
			r.log.add(e)
		case !r.log.any:
			r.memory.Fold(e)
		}
		return r.ctx.Err()
	})
	if err == nil && !r.log.any {
		err = replay.ErrNoSuchRun
	}
	r.log.order()
	return err
}

// drive goes through the steps of the run.
func (r *replayer) drive() {
	for r.log.next < len(r.log.steps) {
		s := r.log.steps[r.log.next]
		first := r.log.next == 0
		if s.Number != uint64(r.log.next+1) || first && (s.Kind != attempts.StepBegun || s.Rules == nil || len(s.Rules.Runners) == 0) {
			return // what is missing is told
		}
		if r.log.next == 0 {
			r.begin(s)
			r.log.next++
			continue
		}
		r.moveTo(s)
		r.idle(s)
		r.setMade()
		if !r.take(s) {
			return
		}
		r.match()
	}
	r.ended()
}

// begin makes the parts of the run, as they were.
func (r *replayer) begin(s recordedStep) {
	u := s.Rules
	o := &Options{
		Epic: r.rec.Epic, Graph: r.rec.Graph, Run: r.rec.Run, Tasks: u.Tasks, Jobs: u.Jobs, Isolation: engine.Isolation(u.Isolation),
		Runners: u.Runners, AskNow: u.AskNow, Until: u.Until, Spent: u.Spent,
		Limits: engine.Limits{
			MaxAttempts: u.MaxAttempts, MaxUncharged: u.MaxUncharged, MaxUnchargedRun: u.MaxUnchargedRun, MaxUndone: u.MaxUndone,
			FailedInARow: u.FailedInARow, SameError: u.SameError, TaskFaults: u.TaskFaults, OutAfter: u.OutAfter,
			OutPeriod: u.OutPeriod, Patience: u.Patience, Backoff: u.Backoff, BackoffMax: u.BackoffMax, FloorWait: u.FloorWait,
			DiskFloor: u.DiskFloor, MemoryFloor: u.MemoryFloor,
		},
		SlowChecks: u.SlowChecks,
		Budget: budget.Caps{
			Run: budget.Cap(u.RunCap), Epic: budget.Cap(u.EpicCap), Task: budget.Cap(u.TaskCap), Attempt: budget.Cap(u.AttemptCap),
		},
		Free: func() Free { return r.free },
		Jitter: func(time.Duration) (late time.Duration) {
			if len(r.drawn) > 0 {
				late, r.drawn = time.Duration(r.drawn[0]), r.drawn[1:]
			}
			return late
		},
	}
	for _, name := range u.Reviewers {
		o.Review.Reviewers = append(o.Review.Reviewers, engine.Reviewer{Name: name})
	}
	r.wanted, _ = schedule.Select(r.rec.Graph, u.Tasks) // a run of tasks that are not in its plan has not begun
	r.log.began, r.log.offset = s.Day, s.Ran
	r.moveTo(s)
	state := &state{
		o: o, store: r.memory, redact: redact.Redactor{Redactor: secrets.New(nil)}, changed: make(chan struct{}),
		now: func() time.Time { return r.at.Day }, ran: func() time.Duration { return r.at.Run },
	}
	r.run = assemble(state, u.Merges)
	r.open = r.run.recovery.openAttempts()
}

// moveTo sets the clocks, and what was drawn and measured, to those of a step.
func (r *replayer) moveTo(s recordedStep) {
	r.at = r.log.instant(s.Step)
	r.drawn = s.Drawn
	r.free = Free{-1, -1}
	if len(s.Free) == 2 {
		r.free = Free{s.Free[0], s.Free[1]}
	}
	for _, e := range r.log.foldUntil(s.carrier) {
		r.fold(e)
	}
}

// fold takes in an event that follows from no step.
func (r *replayer) fold(e attempts.Event) {
	if e.Undone != nil {
		r.report.Made(replay.Undone)
		if times, most := r.memory.Task(e.Task).TimesUndone(), r.run.state.o.Limits.MaxUndone; times >= most {
			r.differs(replay.Undone, e.Task, "it is to be done again", fmt.Sprintf("that is left to a person after %d times", most))
		}
	}
	r.memory.Fold(e)
}

// match holds the steps that were made anew against those recorded, and goes on behind them.
func (r *replayer) match() {
	made := r.made()
	for i, m := range made {
		at := r.log.next + i
		if at < len(r.log.steps) && sameStep(m, r.log.steps[at].Step) {
			continue
		}
		then := "the run went on"
		if i == 0 {
			then = stepText(r.log.steps[at].Step)
		} else {
			r.undo(m)
		}
		r.differs(decisionOf(m.Kind), m.Task, then, stepText(m))
		made = made[:i]
		break
	}
	r.log.next += max(len(made), 1)
}

// undo takes back that the run is over, as it was not.
func (r *replayer) undo(m attempts.Step) {
	switch m.Kind {
	case attempts.StepStopped:
		r.run.limits.stopped = stopReason{}
	case attempts.StepExhausted:
		r.run.limits.exhaustedBy = nil
	default: // it is of no consequence
	}
}

func (r *replayer) differs(d replay.Decision, task, then, now string) {
	r.report.Differs(replay.Difference{Decision: d, At: r.at.Day, Task: task, Then: then, Now: now})
}

// untilTolerance is how far the ends of two waits may be apart that are the same.
const untilTolerance = time.Millisecond

func sameStep(a, b attempts.Step) bool {
	until := time.Duration(a.Until - b.Until).Abs()
	same := a.Kind == b.Kind && a.Task == b.Task && a.Runner == b.Runner && a.For == b.For
	return same && until <= untilTolerance && slices.Equal(a.Tasks, b.Tasks)
}
