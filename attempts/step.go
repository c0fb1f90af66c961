package attempts

import "time"

// Step is one change of the facts behind a run's decisions, with what the run knew then and the log does not say elsewhere. A run
// makes its steps one after the other, under one lock; its events carry them into the log, in whatever order these are written.
type Step struct {
	Number  uint64   `json:"n"` // from 1, without gaps, over the run
	Kind    StepKind `json:"kind"`
	Ran     int64    `json:"ran"`             // when, by the run's clock, in nanoseconds
	Drift   int64    `json:"drift,omitempty"` // how much further the day's clock has gone since StepBegun, in nanoseconds
	Task    string   `json:"task,omitempty"`
	Attempt int      `json:"attempt,omitempty"`
	Runner  string   `json:"runner,omitempty"`

	Drawn []int64 `json:"drawn,omitempty"` // random extra time of waits for runners, in nanoseconds
	Free  []int64 `json:"free,omitempty"`  // bytes of disk and of memory that the machine had left when that was measured

	// StepJoined: what could land, in this order; StepSplit: what failed its checks together; StepLanded: what landed by one step of
	// the branch.
	Tasks    []string `json:"tasks,omitempty"`
	Together int      `json:"together,omitempty"` // StepJoined, StepSplit: how many of the first that could land share the next run of checks
	Checked  int64    `json:"checked,omitempty"`  // StepProved: how long its checks took, in nanoseconds

	For   string `json:"for,omitempty"`   // StepWaited: a runner, or what the machine lacks; StepStopped: the reason
	Until int64  `json:"until,omitempty"` // StepWaited: on the day's clock, in nanoseconds since StepBegun

	Files []string `json:"files,omitempty"` // StepProved: what it changed, where its receipt cannot hold all of that

	// Of StepRuled and StepReviewed: what the engine told of the attempt, as far as its end does not say it.
	Charged   bool `json:"charged,omitempty"`
	Held      bool `json:"held,omitempty"`
	Recovered bool `json:"recovered,omitempty"` // its agent ended under a run that was killed
	// OnlyReview means that the attempt began with the review of work that was done before.
	OnlyReview bool          `json:"only_review,omitempty"`
	Gate       Reason        `json:"gate,omitempty"`
	Outcome    Outcome       `json:"outcome,omitempty"`
	ResetAt    time.Time     `json:"reset_at,omitzero"`
	Unable     []UnableToSay `json:"unable,omitempty"`

	Used []TaskUsage `json:"used,omitempty"` // what attempts under way had told to have used

	// Of StepBegun: the time by the day's clock, and the run's rules.
	Day   time.Time `json:"day,omitzero"`
	Rules *Rules    `json:"rules,omitempty"`
}

// StepKind names what a step changed.
type StepKind string

// Kinds of steps.
const (
	StepBegun     StepKind = "begun"     // the run looked at what earlier runs had left
	StepPlanned   StepKind = "planned"   // the schedule was made of what is left to do
	StepReopened  StepKind = "reopened"  // attempts that a killed run had left open wait for a worker
	StepTaken     StepKind = "taken"     // a worker took one of these
	StepChosen    StepKind = "chosen"    // a worker was given a task and a runner
	StepWaited    StepKind = "waited"    // nothing could start
	StepRetried   StepKind = "retried"   // tasks that were put off are tried again
	StepStopped   StepKind = "stopped"   // nothing more is started, for a limit of the run
	StepExhausted StepKind = "exhausted" // nothing more is started, for a budget
	StepOver      StepKind = "over"      // nothing more is started, as a person or a failure ends the run
	StepRefused   StepKind = "refused"   // a task was gated before its attempt began
	StepRequeued  StepKind = "requeued"  // an attempt did not begin, as the run was stopping
	StepUsed      StepKind = "used"      // an attempt has used so much that a budget ends it, or the run
	StepSuspected StepKind = "suspected" // of an older relay, which asked no runner that seemed to have failed
	StepAnswered  StepKind = "answered"  // a runner serves again
	StepAsked     StepKind = "asked"     // an attempt asks its runner again, which has failed others meanwhile
	StepProved    StepKind = "proved"    // an attempt's work waits for its landing
	StepJoined    StepKind = "joined"    // work was put together to be landed
	StepSplit     StepKind = "split"     // work that was put together failed its checks together: fewer are tried
	StepLanded    StepKind = "landed"    // it has landed, or could not
	StepRuled     StepKind = "ruled"     // what an attempt's end means for task, runner and reviewers was decided
	StepSettled   StepKind = "settled"   // the schedule moved on after an attempt's end
	StepFound     StepKind = "found"     // work of a killed run was on the integration branch already
	StepClosed    StepKind = "closed"    // an attempt of a killed run was ended before the schedule was made
	StepReviewed  StepKind = "reviewed"  // what the review of the whole epic means for the reviewers was decided
	StepRequested StepKind = "requested" // a person asked something of the run; its event carries the step
)

// UnableToSay is a reviewer that came to no answer.
type UnableToSay struct {
	Reviewer string    `json:"reviewer"`
	Outcome  Outcome   `json:"outcome"`
	Why      string    `json:"why,omitempty"`
	ResetAt  time.Time `json:"reset_at,omitzero"`
}

// TaskUsage is what an attempt at a task had used.
type TaskUsage struct {
	Task  string `json:"task"`
	Usage Usage  `json:"usage"`
}

// Rules are the settings of a run that its decisions depend on. Durations are in nanoseconds.
type Rules struct {
	Jobs      int       `json:"jobs"`
	Isolation string    `json:"isolation,omitempty"`
	Merges    bool      `json:"merges,omitempty"` // work lands on an integration branch
	Runners   []string  `json:"runners,omitempty"`
	Reviewers []string  `json:"reviewers,omitempty"`
	Tasks     []string  `json:"tasks,omitempty"`     // the run is about these; empty: all
	AskNow    bool      `json:"ask_now,omitempty"`   // what earlier runs knew of runners does not count
	NeverAsk  bool      `json:"never_ask,omitempty"` // the run waits for no answer of a person
	Until     time.Time `json:"until,omitzero"`

	RunLimits

	SlowChecks time.Duration `json:"slow_checks,omitempty"` // from when on several landings share one run of the checks; 0: a log of before that was kept

	RunCap     Cap   `json:"run_cap,omitzero"`
	EpicCap    Cap   `json:"epic_cap,omitzero"`
	TaskCap    Cap   `json:"task_cap,omitzero"`
	AttemptCap Cap   `json:"attempt_cap,omitzero"`
	Spent      Usage `json:"spent,omitzero"` // by earlier runs, as far as it counts against the run's cap
}

// RunLimits are the limits that decide what a run starts, what it waits for and when it gives up.
type RunLimits struct {
	MaxAttempts  int           `json:"max_attempts,omitempty"`
	MaxUncharged int           `json:"max_uncharged,omitempty"` // uncharged retries of one task before it is gated as infrastructure
	MaxUndone    int           `json:"max_undone,omitempty"`    // times a completed task is done again because later work broke it; 0: never
	TaskFaults   int           `json:"task_faults,omitempty"`   // faults of a runner on one task while it serves others, before that task is gated
	OutAfter     int           `json:"out_after,omitempty"`     // failures in a row to start or to log in after which a runner is out …
	OutPeriod    time.Duration `json:"out_period,omitempty"`    // … when they have lasted so long
	Patience     time.Duration `json:"patience,omitempty"`      // of a run without a deadline, for runners that do not answer
	Backoff      time.Duration `json:"backoff,omitempty"`       // first wait after a provider's fault; doubles up to BackoffMax
	BackoffMax   time.Duration `json:"backoff_max,omitempty"`

	// Of the run as a whole. At each of them nothing more is started, and what runs comes to its end.
	MaxUnchargedRun int           `json:"max_uncharged_run,omitempty"` // attempts that ended uncharged; the faults of a runner between two answers count once
	FailedInARow    int           `json:"failed_in_a_row,omitempty"`   // tasks that failed twice, or were gated, while none was completed
	SameError       int           `json:"same_error,omitempty"`        // the same with one error
	DiskFloor       int64         `json:"disk_floor,omitempty"`        // free bytes below which no attempt is started
	MemoryFloor     int64         `json:"memory_floor,omitempty"`      // the same
	FloorWait       time.Duration `json:"floor_wait,omitempty"`        // how long a run waits below a floor before it ends
}

// Cap bounds money and tokens; 0 means no bound. Tokens read from the provider's cache do not count: in a long session they are most of
// all, at a tenth of the price.
type Cap struct {
	USD    float64 `json:"usd,omitempty"`
	Tokens int64   `json:"tokens,omitempty"`
}
