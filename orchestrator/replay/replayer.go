package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/each"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/schedule"
	"relay/orchestrator/secrets"
	"relay/orchestrator/verdict"
)

// Recorded is a run whose decisions are to be repeated.
type Recorded struct {
	Run   string
	Epic  *epic.Epic // its plan
	Graph *epic.Graph
	// Events calls f with every event of the epic, in order, at least up to the end of the run. See [attempts.Replay].
	Events func(f func(attempts.Event) error) error
	View   *attempts.View // what else is known of the epic's memory; nil: nothing
}

// RecordedIn returns a run whose events are in the log of a folder. See [attempts.Replay].
func RecordedIn(dir, run string, e *epic.Epic, g *epic.Graph) Recorded {
	return Recorded{Run: run, Epic: e, Graph: g, Events: func(f func(attempts.Event) error) error { return attempts.Replay(dir, f) }}
}

// Decide repeats the decisions of a recorded run with the code of a run, at the recorded times and with the recorded ends of attempts. It
// reports each difference, and continues from the record.
func Decide(ctx context.Context, rec Recorded) (*Report, error) {
	return DecideBy(ctx, rec, Current())
}

// DecideFunc is [decide.Dispatcher.Decide].
type DecideFunc func(d *decide.Dispatcher, now limits.Instant) (decide.Choice, *decide.Waiting, error)

// Code makes the decisions. Tests replace parts of it.
type Code struct {
	Decide   DecideFunc
	Together func(q *decide.Queue, due []decide.Queued) int
	Fewer    func(red int) int
}

// Current returns the code that runs make their decisions with.
func Current() Code {
	return Code{(*decide.Dispatcher).Decide, (*decide.Queue).Together, schedule.LandFewer}
}

// DecideBy is [Decide] with other code.
func DecideBy(ctx context.Context, rec Recorded, with Code) (*Report, error) {
	r := &replayer{
		ctx: ctx, rec: rec, Code: with, report: New(rec.Run), memory: &replayedLedger{Memory: attempts.NewMemory(rec.Graph, nil)},
		last: map[string]judged{},
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	r.drive()
	rule(r)
	countUnchecked(r)
	r.report.Damage = damage(rec.View, rec.Run, r.log.last)
	return r.report, nil
}

// replayer repeats the decisions of a recorded run. One goroutine uses it.
type replayer struct {
	Code

	ctx    context.Context //nolint:containedctx // of one call of Replay
	rec    Recorded
	report *Report
	memory *replayedLedger
	log    nightLog

	s       *decide.Scheduler
	at      limits.Instant
	drawn   []int64
	free    decide.Free
	wanted  []bool
	open    []decide.OpenAttempt
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
	rule    decide.Ruling
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

// made returns the steps that were repeated since setMade.
func (r *replayer) made() []attempts.Step {
	r.memory.steps = append(r.memory.steps, r.s.TakeSteps()...)
	return r.memory.steps
}

// setMade replaces the repeated steps.
func (r *replayer) setMade(steps ...attempts.Step) {
	r.s.TakeSteps()
	r.memory.steps = steps
}

// read reads the log: what came before the run is folded, its own events are kept by what they are about.
func (r *replayer) read() error {
	err := r.rec.Events(func(e attempts.Event) error {
		switch {
		case e.Run == r.rec.Run:
			r.log.add(e)
		case r.log.last == 0:
			r.memory.Fold(e)
		}
		return r.ctx.Err()
	})
	if err == nil && r.log.last == 0 {
		err = ErrNoSuchRun
	}
	slices.SortStableFunc(r.log.steps, func(a, b recordedStep) int { return cmp.Compare(a.Number, b.Number) })
	return err
}

// drive repeats the steps of the run.
func (r *replayer) drive() {
	for r.log.next < len(r.log.steps) {
		s, first := r.log.steps[r.log.next], r.log.next == 0
		if s.Number != uint64(r.log.next+1) || first && (s.Kind != attempts.StepBegun || s.Rules == nil || len(s.Rules.Runners) == 0) {
			return // countUnchecked reports the rest
		}
		if first {
			r.begin(s)
			r.log.next++
			continue
		}
		r.moveTo(s)
		idle(r, s)
		r.setMade()
		if !r.take(s) {
			return
		}
		r.match()
	}
	ended(r)
}

// begin makes the parts of the run from its recorded settings.
func (r *replayer) begin(s recordedStep) {
	o := decide.SettingsOf(s.Rules)
	o.Run, o.Epic, o.Graph = r.rec.Run, r.rec.Epic, r.rec.Graph
	o.Free = func() decide.Free { return r.free }
	o.Jitter = func(time.Duration) (late time.Duration) {
		if len(r.drawn) > 0 {
			late, r.drawn = time.Duration(r.drawn[0]), r.drawn[1:]
		}
		return late
	}
	r.wanted, _ = schedule.Select(r.rec.Graph, o.Tasks) // a run of tasks that are not in its plan has not begun
	r.log.began, r.log.offset = s.Day, s.Ran
	r.moveTo(s)
	r.s = decide.New(o, decide.Inputs{
		Ledger: r.memory, Now: func() time.Time { return r.at.Day }, Ran: func() time.Duration { return r.at.Run },
		Redact: secrets.Cleaner{Redactor: secrets.New(nil)}, Merges: s.Rules.Merges,
	})
	r.open = decide.OpenAttempts(o.Graph, r.memory)
}

// moveTo sets the clocks, the random numbers and the measured room to those of a step.
func (r *replayer) moveTo(s recordedStep) {
	r.at = r.log.instant(s.Step)
	r.drawn = s.Drawn
	r.free = decide.Free{Disk: -1, Memory: -1}
	if len(s.Free) == 2 {
		r.free = decide.Free{Disk: s.Free[0], Memory: s.Free[1]}
	}
	for _, e := range r.log.foldUntil(s.carrier) {
		if e.Undone != nil { // it does not follow from a step
			r.report.Made(Undone)
			if times, most := r.memory.Task(e.Task).TimesUndone(), r.s.O.Limits.MaxUndone; times >= most {
				r.differs(Undone, e.Task, "it is to be done again", fmt.Sprintf("that is left to a person after %d times", most))
			}
		}
		r.memory.Fold(e)
	}
}

// match compares the repeated steps with the recorded ones, and continues behind them.
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
			r.s.Dispatcher.Undo(m)
		}
		r.differs(decisionOf(m.Kind), m.Task, then, stepText(m))
		made = made[:i]
		break
	}
	r.log.next += max(len(made), 1)
}

func (r *replayer) differs(d Decision, task, then, now string) {
	r.report.Differs(Difference{Decision: d, At: r.at.Day, Task: task, Then: then, Now: now})
}

// untilTolerance is how far the ends of two waits may be apart that are the same.
const untilTolerance = time.Millisecond

func sameStep(a, b attempts.Step) bool {
	until := time.Duration(a.Until - b.Until).Abs()
	same := a.Kind == b.Kind && a.Task == b.Task && a.Runner == b.Runner && a.For == b.For
	return same && until <= untilTolerance && slices.Equal(a.Tasks, b.Tasks)
}

// ruled decides what an attempt's end means.
func (r *replayer) ruled(s recordedStep) bool {
	id := attemptID{s.Task, s.Attempt}
	event, ok := r.log.ends[id]
	task, known := task(r, s.Task)
	if !ok || !known {
		r.report.Cannot(End, s.Task, notRecorded)
		return false
	}
	r.report.Made(End)
	r.s.Limits.Over(s.Task)
	then := event.Ended
	record := r.memory.Task(s.Task)
	if n := len(record.Attempts); n > 0 && record.Attempts[n-1].ID == s.Attempt {
		record.Attempts = record.Attempts[:n-1]
	}
	a := engine.Attempt{Run: r.rec.Run, Task: *task, Number: s.Attempt, Runner: runnerOf(r, s), Ended: s.Recovered}
	if last, ok := verdict.Previous(record); ok && s.OnlyReview {
		a.Previous = last
	}
	f := resultOf(s.Step, then)
	now := r.s.Judge.EndedEvent(a, f)
	rule := r.s.Judge.Decide(a, record, f, &now)
	if now.Charged != then.Charged {
		r.differs(End, s.Task, chargeText(then.Charged), chargeText(now.Charged))
	}
	if !sameGate(now.Gate, then.Gate) {
		r.differs(End, s.Task, gateText(then.Gate), gateText(now.Gate))
	}
	compareCooldowns(r, End, s.Task, r.log.cooling[id], rule.Cooldown)
	r.memory.Fold(event)
	for _, c := range r.log.cooling[id] {
		r.memory.Fold(attempts.Event{Type: attempts.TypeCooldown, Task: s.Task, At: event.At, Run: event.Run, Seq: event.Seq, Cooldown: c})
	}
	r.last[s.Task] = judged{a, f, *then, rule}
	return true
}

// resultOf returns the engine's result of an attempt.
func resultOf(s attempts.Step, then *attempts.Ended) engine.Result {
	f := engine.Result{
		Outcome: then.Outcome, Receipt: then.Receipt, Head: then.Head, Landed: then.Landed, Model: then.Model, Session: then.Session,
		ResetAt: s.ResetAt, Gate: s.Gate, Charged: s.Charged, Held: s.Held,
	}
	if then.Usage != nil {
		f.Usage = *then.Usage
	}
	f.Unable = unableOf(s)
	return f
}

func unableOf(s attempts.Step) []engine.Unable {
	return each.Of(s.Unable, func(u attempts.UnableToSay) engine.Unable {
		return engine.Unable{Name: u.Reviewer, Why: u.Why, ResetAt: u.ResetAt, Outcome: u.Outcome}
	})
}

// compareCooldowns holds until when runners are not asked against what was recorded.
func compareCooldowns(r *replayer, of Decision, task string, then, now []*attempts.Cooldown) {
	for i := range max(len(then), len(now)) {
		was, is := cooldownText(then, i), cooldownText(now, i)
		if was != is {
			r.differs(of, task, was, is)
		}
	}
}

func cooldownText(list []*attempts.Cooldown, i int) string {
	if i >= len(list) {
		return "every runner may be asked"
	}
	return list[i].Runner + " is not asked before " + list[i].Until.UTC().Format(time.RFC3339Nano)
}

func chargeText(charged bool) string {
	if charged {
		return "it counts against the task"
	}
	return "it does not count against the task"
}

func sameGate(a, b *attempts.Gate) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Reason == b.Reason)
}

func gateText(g *attempts.Gate) string {
	if g == nil {
		return "it is not gated"
	}
	return "it is gated: " + string(g.Reason)
}

// settled moves the schedule on after an attempt's end.
func (r *replayer) settled(s recordedStep, index int) bool {
	last, ok := r.last[s.Task]
	if !ok || last.attempt.Number != s.Attempt {
		return false
	}
	for _, u := range s.Used {
		r.s.Limits.Told(u)
	}
	next := decide.EndedAttempt{Attempt: last.attempt, Result: last.result, Ended: last.ended, Rule: last.rule}
	err := r.s.Judge.Settle(decide.Job{Index: index, Runner: last.attempt.Runner}, next)
	r.stopped = r.stopped || r.s.Limits.Stopped.Reason != ""
	return err == nil
}

// reviewed decides what the review of the whole epic means for its reviewers.
func (r *replayer) reviewed(s recordedStep) bool {
	if len(r.log.reviews) == 0 {
		return false
	}
	r.report.Made(Review)
	then := r.log.reviews[0]
	r.log.reviews = r.log.reviews[1:]
	f := engine.Result{Outcome: s.Outcome, ResetAt: s.ResetAt, Unable: unableOf(s.Step)}
	f.Receipt.Review = &then.event.EpicReviewed.Reviewed
	compareCooldowns(r, Review, "", then.cooling, r.s.Judge.DecideEpic(f).Cooldown)
	r.memory.Fold(then.event)
	return true
}
