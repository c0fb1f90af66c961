package decide

import (
	"errors"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/orchestrator/schedule"
	"relay/orchestrator/secrets"
)

// State is what the parts of a scheduler share. Mu guards the fields below it; a worker that has
// nothing to do holds no slot and waits for a change.
type State struct {
	O      *Settings
	store  Ledger
	Now    func() time.Time     // the day's clock
	Ran    func() time.Duration // the run's clock
	Redact secrets.Cleaner

	Mu       sync.Mutex
	Plan     *schedule.Schedule
	Pool     *limits.Pool
	Changed  chan struct{} // closed and replaced at every change of state
	Broken   error         // the run must end: the ledger or the engine failed
	Summary  Summary
	Workers  int   // still at work
	OpenJobs []Job // attempts of a killed run that no worker has taken yet
	steps    steps

	// asking are the tasks that have asked a person in this run, and wait for the answer.
	asking                   map[int]bool
	lastRunner, runnerBefore string // that the last task without one of its own went to, and the one before that

	Paused   bool         // a person has the run start nothing new
	Withheld map[int]bool // tasks that a person has stopped or gated: they are not tried again when what runs of them has ended
	Closing  bool         // the run comes to its end: nothing is asked of it any more
	Resting  bool         // the workers have ended before the run waits for an answer
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

// Fail ends the run with a failure of this machine.
func (s *State) Fail(err error) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Broken = errors.Join(s.Broken, err)
	s.Announce()
}

// Instant returns now by both clocks. Round takes off the monotonic reading of time.Now, as days are compared by the wall clock.
func (s *State) Instant() limits.Instant { return limits.Instant{Day: s.Now().Round(0), Run: s.Ran()} }

// Counts counts the tasks by status.
func (s *State) Counts() Counts { return CountsOf(s.store.Counts()) }

// Notify passes an update to the watcher, without secrets. The caller holds Mu, so the watcher is called once at a time.
func (s *State) Notify(u Update) {
	if s.O.Notify == nil {
		return
	}
	u.At, u.Text = s.Now(), s.Redact.Text(u.Text)
	u.Counts = s.Counts()
	s.O.Notify(u)
}

// PlanTasks makes the schedule of the wanted tasks from the ledger as it is now.
func (s *State) PlanTasks(wanted []bool) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.store.View(func(l *attempts.Ledger) {
		s.Plan = schedule.New(s.O.Epic, s.O.Graph, l, wanted)
		if s.asking == nil {
			s.asking = map[int]bool{}
		}
	})
	for _, i := range slices.Sorted(maps.Keys(s.Withheld)) {
		s.Plan.Withhold(i)
	}
	s.Step(s.Instant(), attempts.Step{Kind: attempts.StepPlanned})
}

// steps are the changes of the inputs of a run's decisions. They are guarded by the lock of state, and kept until an event carries
// them into the log.
type steps struct {
	began  time.Time // the day's clock at the first step …
	offset time.Duration
	made   uint64
	untold []attempts.Step
	drawn  []int64 // since the last step: what waits for runners took longer
	free   *Free   // since the last step: what the machine had left
	over   bool    // StepOver is made
}

// Step records a change of state that was made at now. The caller holds Mu.
func (s *State) Step(now limits.Instant, made attempts.Step) {
	t := &s.steps
	if made.Kind == attempts.StepBegun {
		t.began, t.offset, made.Day = now.Day, now.Run, now.Day.UTC()
	}
	t.made++
	made.Number, made.Ran = t.made, int64(now.Run)
	made.Drift = int64(now.Day.Sub(t.began) - (now.Run - t.offset))
	if made.Drawn = t.drawn; t.free != nil {
		made.Free = []int64{t.free.Disk, t.free.Memory}
	}
	t.drawn, t.free = nil, nil
	t.untold = append(t.untold, made)
}

// TakeSteps returns the steps that are in no event yet: the next one that is written must carry them. The caller holds Mu.
func (s *State) TakeSteps() []attempts.Step {
	taken := s.steps.untold
	s.steps.untold = nil
	return taken
}

// CarrySteps returns the events, the first of which carries the steps that are in no event yet. The caller does not hold Mu.
func (s *State) CarrySteps(events ...attempts.Event) []attempts.Event {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	events[0].Steps = s.TakeSteps()
	return events
}

// ruledStep returns the step that decides what an attempt's end means: what the engine told of it, as far as the event of its end does
// not.
func ruledStep(kind attempts.StepKind, a engine.Attempt, f engine.Result, redact secrets.Cleaner) attempts.Step {
	made := attempts.Step{
		Kind: kind, Task: a.Task.ID, Attempt: a.Number, Charged: f.Charged, Held: f.Held,
		Recovered: a.Ended, OnlyReview: a.Previous.AwaitsReview(), Gate: f.Gate, ResetAt: f.ResetAt,
	}
	for _, u := range f.Unable {
		told := attempts.UnableToSay{Reviewer: u.Name, Outcome: u.Outcome, Why: redact.Block(u.Why), ResetAt: u.ResetAt}
		made.Unable = append(made.Unable, told)
	}
	return made
}

// mostFilesTold is how many changed files a receipt holds.
const mostFilesTold = 200

// provedStep returns the step in which an attempt's work begins to wait for its landing.
func provedStep(a engine.Attempt, f engine.Result, redact secrets.Cleaner) attempts.Step {
	made := attempts.Step{Kind: attempts.StepProved, Task: a.Task.ID, Attempt: a.Number, Recovered: a.Ended}
	for _, run := range f.Receipt.Checks {
		made.Checked += int64(math.Round(run.Seconds * float64(time.Second)))
	}
	if files := f.Receipt.FilesChanged; len(files) > mostFilesTold {
		made.Files = slices.Clone(files[:min(len(files), maxFilesKept)])
		for i := range made.Files {
			made.Files[i] = redact.Line(made.Files[i])
		}
	}
	return made
}

// maxFilesKept is more than are compared one by one.
const maxFilesKept = 1001

// Settings are what the decisions of a run follow.
type Settings struct {
	*engine.Options
	Policy

	Graph     *epic.Graph
	Reviewers []string // that every agent's work needs
}

// Policy is what the user wants of a run as a whole.
type Policy struct {
	Tasks   []string // the run is about these, and what they depend on; none: all
	Runners []string // names in order of preference
	AskNow  bool     // every runner may be asked at once, whatever earlier runs knew of usage limits
	// NeverAsk has agents ask no person; the run waits for no answer.
	NeverAsk  bool
	NeverWait bool      // agents may ask, and the run waits for no answer all the same: another one begins after it
	Until     time.Time // the run's deadline: agents are stopped then, and nothing starts after it; zero: none

	SlowChecks time.Duration // how long checks take from which on several landings share one run of them
	Budget     limits.Caps
	Spent      attempts.Usage // by earlier runs, as far as it counts against this run's cap

	Free   func() Free                            // what the machine has left; nil: it is not measured
	Jitter func(most time.Duration) time.Duration // draws what a wait for a runner takes longer, of at most so much; nil: nothing
	Drain  <-chan struct{}                        // closed: nothing new starts, and what runs comes to its end
	Notify func(Update)                           // called from one goroutine at a time; nil without a watcher
}

// About fills in the task and the number of the attempt that an update is about.
func (o *Settings) About(t *epic.Task, record attempts.TaskRecord, u Update) Update {
	u.Task, u.Title, u.Max = t.ID, t.Title, o.Limits.AttemptsFor(t)
	u.Try = record.Charges()
	if u.Kind == Started {
		u.Try++
	}
	return u
}

// rules returns the settings that decide in this run.
func (s *State) rules(merges bool) *attempts.Rules {
	o := s.O
	return &attempts.Rules{
		Jobs: o.Jobs, Isolation: string(o.Isolation), Merges: merges, Runners: o.Runners, Reviewers: o.Reviewers,
		Tasks: o.Tasks, AskNow: o.AskNow, NeverAsk: o.NeverAsk || o.NeverWait, Until: o.Until,
		RunLimits: o.Limits.RunLimits, SlowChecks: o.SlowChecks,
		RunCap: o.Budget.Run, EpicCap: o.Budget.Epic, TaskCap: o.Budget.Task, AttemptCap: o.Budget.Attempt, Spent: o.Spent,
	}
}

// SettingsOf returns the settings that a run has recorded, without its plan and its functions.
func SettingsOf(u *attempts.Rules) *Settings {
	return &Settings{
		Options:   &engine.Options{Jobs: u.Jobs, Isolation: engine.Isolation(u.Isolation), Limits: engine.Limits{RunLimits: u.RunLimits}},
		Reviewers: u.Reviewers,
		Policy: Policy{
			Tasks: u.Tasks, Runners: u.Runners, AskNow: u.AskNow, NeverAsk: u.NeverAsk, Until: u.Until, Spent: u.Spent, SlowChecks: u.SlowChecks,
			Budget: limits.Caps{Run: u.RunCap, Epic: u.EpicCap, Task: u.TaskCap, Attempt: u.AttemptCap},
		},
	}
}
