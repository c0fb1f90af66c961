package decide

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/verdict"
)

// Dispatcher gives each worker its next task and the runner that shall do it.
type Dispatcher struct {
	State  *State
	limits *Limits
	waiter *waiter
	queue  *Queue
}

// Job is a task given to a worker, with the runner that shall do it.
type Job struct {
	Index        int
	Runner       string
	Open         *OpenAttempt // that a killed run left, to be brought to its end; nil: a new attempt
	SwitchReason string       // why not the runner that had it before; "" : it is the same
}

// NextJob returns a task for a worker, or what the worker has to wait for, or neither when it is to end.
func (d *Dispatcher) NextJob(ctx context.Context) (*Job, *Waiting, error) {
	d.State.Mu.Lock()
	defer d.State.Mu.Unlock()
	now := d.State.Instant()
	if left := d.NextOpen(ctx, now); left != nil {
		return left, nil, nil
	}
	if d.over(ctx, now) {
		return nil, nil, nil
	}
	next, wait, err := d.Decide(now)
	if next.Index < 0 {
		return nil, wait, err
	}
	return d.Begin(next, now), nil, nil
}

// Choice is a task that shall start now, and its runner: "" when no runner is needed. Below 0 the index is of none.
type Choice struct {
	Index  int
	Runner string
}

// Decide returns the task that shall start at now, or what to wait for, or neither when nothing more can start. It depends only on the
// log, so a replay repeats it. The caller holds Mu.
func (d *Dispatcher) Decide(now limits.Instant) (next Choice, wait *Waiting, err error) {
	none := Choice{Index: -1}
	d.State.steps.free = nil
	if d.limits.Stopped.Reason != "" || d.limits.Exhausted() { // whatever tasks are ready
		return none, nil, nil
	}
	if d.State.Paused && d.State.Plan.Ready.Len() > 0 {
		return none, &Waiting{Changed: d.State.Changed}, nil
	}
	if wait, err := d.limits.hold(now); wait != nil || err != nil || d.limits.Stopped.Reason != "" {
		return none, wait, err
	}
	i, runner := d.choose(now)
	if i >= 0 {
		if rest := d.queue.waitForLanding(i, now.Run); rest > 0 {
			return none, &Waiting{Changed: d.State.Changed, Rest: rest}, nil
		}
		if wait, err := d.limits.waitForRoom(now); wait != nil || err != nil || d.limits.Stopped.Reason != "" {
			return none, wait, err
		}
		return Choice{i, runner}, nil, nil
	}
	return d.idle(now)
}

// Begin starts a task that was chosen. The caller holds Mu.
func (d *Dispatcher) Begin(next Choice, now limits.Instant) *Job {
	i, task, reason := next.Index, d.State.Plan.Task(next.Index).ID, ""
	asked := d.State.Plan.MissingReviewers(i)
	if asked == nil {
		reason, asked = d.switchReason(i, next.Runner, now), []string{next.Runner}
	}
	for _, name := range asked {
		d.State.Pool.Ask(name, task, now)
	}
	d.State.Plan.Start(i)
	d.limits.breaker.Begin(i)
	delete(d.limits.stopping, task)
	d.State.Step(now, attempts.Step{Kind: attempts.StepChosen, Task: task, Runner: next.Runner})
	return &Job{Index: i, Runner: next.Runner, SwitchReason: reason}
}

// ForAnswer is what a run waits for that waits for a person's answer.
const ForAnswer = "your answer"

// awaitAnswer returns what a worker waits for while the only tasks left wait for a person, or nil. The run waits until its deadline, and
// not at all without one.
func (d *Dispatcher) awaitAnswer(now limits.Instant) (*Waiting, error) {
	s := d.State
	if s.O.NeverAsk || s.O.NeverWait || d.limits.Deadline == nil {
		return nil, nil
	}
	for _, i := range slices.Sorted(maps.Keys(s.asking)) {
		task := s.Plan.Task(i).ID
		if verdict.AwaitsAnswer(s.store.Task(task)) {
			what := attempts.Waiting{Until: d.limits.Deadline.Day.UTC(), For: ForAnswer, Why: task + " asks you: relay answer " + task}
			return &Waiting{Changed: s.Changed, Answer: true}, d.waiter.notifyWaiting(now, UpdateWaiting, "", what)
		}
	}
	return nil, nil
}

// How far agents may go on while a reviewer is not to be asked: each job has one task under way or done, and one more
// ahead of it. Work that waits for its review grows old, and who reads it in the morning has more to undo.
const tasksPerJobUnreviewed = 2

// choose returns the task to start now, and its runner: "" when no runner is needed. A review that can be held goes
// before new work. The caller holds Mu.
func (d *Dispatcher) choose(now limits.Instant) (i int, runner string) {
	pool := d.State.Pool
	if i := d.State.Plan.NextReview(func(i int, by []string) (int, bool) { return pool.Review(d.State.Plan.Task(i).ID, by, now) }); i >= 0 {
		return i, d.reviewedRunner(i, now)
	}
	if !pool.AllOpen("", d.wanted(), now) {
		return -1, ""
	}
	pick := func(i int) (name string, rank int, ok bool) {
		task := d.State.Plan.Task(i)
		its := verdict.Continued(d.State.store.Task(task.ID))
		if its != nil && slices.Contains(pool.Choices(task.Runner), its.Runner) && pool.AllOpen(task.ID, []string{its.Runner}, now) {
			return pool.Pick(task.ID, its.Runner, now)
		}
		return pool.Pick(task.ID, task.Runner, now)
	}
	for _, rank := range pool.Ranks() {
		i = d.State.Plan.Next(func(i int) bool {
			_, its, ok := pick(i)
			return ok && its == rank && d.State.Plan.MissingReviewers(i) == nil
		})
		if i >= 0 {
			runner, _, _ = pick(i)
			return i, runner
		}
	}
	return -1, ""
}

// wanted returns the reviewers without whom no agent begins new work: none while little work waits for its review, and none when they are
// out for this run; then their reviews wait for the next run. The caller holds Mu.
func (d *Dispatcher) wanted() []string {
	ahead := d.State.Pool.PanelOut() || d.State.Plan.CountUnreviewed() < tasksPerJobUnreviewed*d.State.O.Jobs
	if ahead && d.State.O.Isolation == engine.IsolationWorktree {
		return nil
	}
	return d.State.Pool.Panel
}

// reviewedRunner returns the runner for a task that lacks only a review: the one that did the work, if it may be asked, else
// another one.
func (d *Dispatcher) reviewedRunner(i int, now limits.Instant) string {
	task := d.State.Plan.Task(i)
	last := ""
	if earlier := d.State.store.Task(task.ID).Attempts; len(earlier) > 0 {
		last = earlier[len(earlier)-1].Runner
	}
	if d.State.Pool.AllOpen(task.ID, []string{last}, now) {
		return last
	}
	other, _, _ := d.State.Pool.Pick(task.ID, task.Runner, now)
	return plaintext.FirstOf(other, last)
}

// switchReason returns, in words, why a task goes to another runner than the task before it, or than its own last attempt; "" if it does
// not. The caller holds Mu.
func (d *Dispatcher) switchReason(i int, to string, now limits.Instant) string {
	from := ""
	task := d.State.Plan.Task(i)
	if task.Runner == "" {
		from = plaintext.FirstOf(d.State.lastRunner, d.State.Pool.Order[0])
		d.State.runnerBefore, d.State.lastRunner = d.State.lastRunner, to
	}
	if from == "" || from == to {
		from = to
		if earlier := d.State.store.Task(task.ID).Attempts; len(earlier) > 0 {
			from = plaintext.FirstOf(earlier[len(earlier)-1].Runner, to)
		}
	}
	if from == to {
		return ""
	}
	return d.State.Pool.SwitchReason(from, to, now, plaintext.LocalTime)
}

// NoRunnerError means that no agent CLI is left that could work.
type NoRunnerError struct {
	Runner  string           // the last; "" : none is configured
	Outcome attempts.Outcome // of its last attempt
	Why     string
}

func (e *NoRunnerError) Error() string {
	if e.Runner == "" {
		return "no usable runner: none is configured"
	}
	return "no usable runner: " + e.Runner + plaintext.Because(e.Why)
}

// idle returns what a worker waits for when no task is ready, or no runner may be asked for those that are; nothing when the worker
// is to end. It returns a *NoRunnerError if no runner is left in this run.
func (d *Dispatcher) idle(now limits.Instant) (Choice, *Waiting, error) {
	none, ready := Choice{Index: -1}, d.State.Plan.Ready.Len() > 0
	name, at := d.opens(now)
	wait := &Waiting{Changed: d.State.Changed}
	if name != "" {
		wait.Rest = at.Rest(now)
	}
	if d.State.Plan.CountRunning() > 0 {
		return none, wait, nil
	}
	if d.State.Plan.RetryPostponed(!ready) { // every worker looks again at once
		d.State.Step(now, attempts.Step{Kind: attempts.StepRetried})
		d.State.Announce()
		return none, wait, nil
	}
	if !ready {
		wait, err := d.awaitAnswer(now)
		return none, wait, err
	}
	if name != "" && d.limits.pointless(at, now) {
		why := fmt.Sprintf("%s is not asked before %s%s; the run's deadline is %s", name, plaintext.LocalTime(at.Day), plaintext.Because(d.State.Pool.Why(name)), plaintext.LocalTime(d.limits.Deadline.Day))
		return none, nil, d.limits.stop(now, Deadline, why)
	}
	if name != "" {
		what := attempts.Waiting{Until: at.Day.UTC(), For: name, Why: d.State.Pool.Why(name)}
		return none, wait, d.waiter.notifyWaiting(now, UpdateWaiting, "", what)
	}
	if name, yes := d.State.Pool.Hopeless("", d.State.Pool.Panel, now); yes {
		d.State.Step(now, attempts.Step{Kind: attempts.StepStopped, For: string(NoRunner), Runner: name})
		return none, nil, &NoRunnerError{Runner: name, Outcome: d.State.Pool.Last(name), Why: d.State.Pool.Why(name)}
	}
	return none, nil, nil
}

// opens returns the first runner that may be asked for a ready task, and when; "" if none is left for any.
func (d *Dispatcher) opens(now limits.Instant) (name string, at limits.Deadline) {
	asked := make(map[string]bool)
	for i := range d.State.Plan.Ready.All() {
		task := d.State.Plan.Task(i)
		lacking := d.State.Plan.MissingReviewers(i)
		waits := lacking != nil
		like := !waits && !d.State.Pool.HasFailed(task.ID)
		if like && asked[task.Runner] || !waits && d.State.Plan.Contention.MustWait(i) {
			continue
		}
		var who string
		var when limits.Deadline
		if waits {
			who, when = d.State.Pool.Latest(task.ID, lacking, now)
		} else {
			asked[task.Runner] = asked[task.Runner] || like
			who, when = d.State.Pool.Opens(task.ID, task.Runner, d.wanted(), now)
		}
		if sooner := when.Rest(now) - at.Rest(now); who != "" && (name == "" || sooner < 0 || sooner == 0 && who < name) {
			name, at = who, when
		}
	}
	return name, at
}

// Unable returns, in words, why no runner can be asked for a task in this run.
func (d *Dispatcher) Unable(task *epic.Task) string {
	name, yes := d.State.Pool.Hopeless(task.Runner, d.State.Pool.Panel, d.State.Instant())
	if !yes {
		why, _ := d.State.Pool.Spent(task.ID, task.Runner)
		return why
	}
	return name + plaintext.Because(d.State.Pool.Why(name))
}

// WaitForPanel returns what to wait for until every reviewer of the whole epic may be asked; open means that they may be asked now.
// Neither is so when that is not in this run. The caller holds Mu.
func (d *Dispatcher) WaitForPanel(now limits.Instant) (wait *Waiting, open bool, err error) {
	name, at := d.State.Pool.Latest(engine.WholeEpic, d.State.Pool.Panel, now)
	if name == "" || at.Rest(now) <= 0 || d.limits.pointless(at, now) {
		return nil, name != "" && at.Rest(now) <= 0, nil
	}
	what := attempts.Waiting{Until: at.Day.UTC(), For: name, Why: d.State.Pool.Why(name)}
	err = d.waiter.notifyWaiting(now, UpdateWaiting, engine.WholeEpic, what)
	return &Waiting{Changed: d.State.Changed, Rest: at.Rest(now)}, false, err
}

// OpenAttempt is an attempt that a killed run left open.
type OpenAttempt struct {
	Task    string
	Record  attempts.TaskRecord // without the open attempt
	Attempt attempts.Attempt
}

// OpenAttempts returns the attempts that a killed run left open, in the order of the plan.
func OpenAttempts(g *epic.Graph, l Ledger) (found []OpenAttempt) {
	for i := range g.Len() {
		id := g.ID(i)
		record := l.Task(id)
		open := record.Running()
		if open == nil {
			continue
		}
		record.Attempts = record.Attempts[:len(record.Attempts)-1]
		found = append(found, OpenAttempt{Task: id, Record: record, Attempt: *open})
	}
	return found
}

// Reopen counts the attempts of a killed run as running, and returns those whose tasks are in the plan. The caller holds Mu.
func (d *Dispatcher) Reopen(open []OpenAttempt, now limits.Instant) (reopened []OpenAttempt) {
	for _, o := range open {
		at, ok := d.State.O.Graph.Index(o.Task)
		if !ok {
			continue
		}
		d.State.Plan.Start(at)
		d.State.Pool.Probe(o.Attempt.Runner, now)
		d.State.OpenJobs = append(d.State.OpenJobs, Job{Index: at, Runner: o.Attempt.Runner, Open: &o})
		reopened = append(reopened, o)
	}
	d.State.Step(now, attempts.Step{Kind: attempts.StepReopened})
	return reopened
}

// NextOpen takes the next attempt of a killed run, or nil. It does so too when nothing new is started, as that work is paid for.
// The caller holds Mu.
func (d *Dispatcher) NextOpen(ctx context.Context, now limits.Instant) *Job {
	if ctx.Err() != nil || d.State.Broken != nil || len(d.State.OpenJobs) == 0 {
		return nil
	}
	first := d.State.OpenJobs[0]
	d.State.OpenJobs = d.State.OpenJobs[1:]
	d.State.Step(now, attempts.Step{Kind: attempts.StepTaken, Task: d.State.Plan.Task(first.Index).ID})
	return &first
}

// over reports whether a person or a failure has ended the run, so that nothing more starts. The caller holds Mu.
func (d *Dispatcher) over(ctx context.Context, now limits.Instant) bool {
	over := ctx.Err() != nil || d.State.Broken != nil || d.State.Drained()
	if over && !d.State.steps.over {
		d.State.steps.over = true
		d.State.Step(now, attempts.Step{Kind: attempts.StepOver})
	}
	return over
}

// Kept returns a function that takes back what deciding changes of the limits of the run: so a replay can ask what would be decided.
// The caller holds Mu.
func (d *Dispatcher) Kept() (restore func()) {
	m := d.limits
	stopped, exhausted, last, room := m.Stopped, m.ExhaustedBy, d.waiter.last, m.roomUntil
	return func() { m.Stopped, m.ExhaustedBy, d.waiter.last, m.roomUntil = stopped, exhausted, last, room }
}

// Force takes over a step that a run has recorded when nothing was to start. The caller holds Mu.
func (d *Dispatcher) Force(s attempts.Step) {
	switch s.Kind {
	case attempts.StepRetried:
		d.State.Plan.RetryPostponed(true)
	case attempts.StepStopped:
		d.limits.Stopped = StopReason{EndReason(s.For), s.For}
	case attempts.StepExhausted:
		d.limits.ExhaustedBy = d.limits.Budget.Exhausted()
	default:
		d.waiter.last = Update{Runner: s.For, Until: d.State.steps.began.Add(time.Duration(s.Until))}
	}
}

// Undo takes back that the run starts nothing more, which a step says. The caller holds Mu.
func (d *Dispatcher) Undo(s attempts.Step) {
	switch s.Kind {
	case attempts.StepStopped:
		d.limits.Stopped = StopReason{}
	case attempts.StepExhausted:
		d.limits.ExhaustedBy = nil
	default: // it is of no consequence
	}
}
