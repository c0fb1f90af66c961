// Package attempts is the memory of an epic: every attempt, gate and receipt, as an event log and the ledger folded from it.
//
// The log is the truth while a run is on; attempt-ledger.yml is the fold of it, complete after every clean stop.
//
// Append is one write of one checksummed line, then fdatasync, shared by concurrent tasks; only then does anyone act. The end of
// an attempt is written at once and shares its sync with the next start (AppendLater): in between nothing is done. The snapshot
// is replaced atomically, at most 5 % of the time while a run is busy, at once when it is idle or stops, and its hash is logged
// before it is put in place, which distinguishes an edit by somebody else from relay's own write. When the logs are undamaged the
// ledger is folded from them, and the YAML is not parsed; otherwise the YAML is the base. After a failed write nothing more is
// started, and no fsync is tried twice.
//
// An [Event] is a line of the log. A [Ledger] is what the events add up to: a [TaskRecord] for each task, with its attempts, and the
// state of the epic and its last run. Three types give access to a Ledger. A [Store] appends events and keeps attempt-ledger.yml: a run
// has one, under the lock. A [View] is read once, without the lock, and writes nothing. A [Memory] consists of given events and has no
// files.
//
// Inside, a fold adds events to a Ledger, and updates a progress: the states of the tasks, which depend on each other. A history reads
// the logs of all runs into a fold. A contents compares that with attempt-ledger.yml: Open, Read, Accept, Repair and Validate begin with
// one. A Store has a journal, which writes the log of its run, and a current, which folds what the journal has written.
package attempts

import (
	"strings"
	"time"
)

// Ledger is the fold of all events of an epic: what attempt-ledger.yml says.
type Ledger struct {
	Version     int // 2; version 1 files are read too
	EpicID      string
	StartedAt   time.Time
	EndedAt     time.Time // when the last task was completed; zero before
	Settings    Settings
	Integration Integration
	Tasks       map[string]*TaskRecord
	EpicReviews []EpicReview // of the whole epic, oldest first
	Status      RelayStatus
	Folded      Folded

	// Only the event logs have the following fields: they are short-lived, and relay recovers without them.
	Cooldowns map[string]Cooldown // by runner; some may be over
	Refused   map[string]Refusal  // by runner that would not work when it was last asked
	Waiting   *Waiting            // nil: something runs, or can start
	Until     time.Time           // the newest run's deadline
	Chosen    []string            // tasks that the newest run is about, and what they depend on; empty: all
	Why       string              // the newest run ended, in words
	Run       string              // the newest run
	Landed    string              // the commit that Integration.Finished was put at
	Tip       string              // as in RunStopped of the newest run that has one
	// Regressed are the checks of completed tasks, and of the epic, that fail on Tip.
	Regressed []string
	Sealed    string // what its tasks are measured by, as in RunStarted

	Paused time.Time            // since when a person has the newest run start nothing new; zero: it goes on
	Held   map[string]time.Time // tasks whose attempt a person has stopped: the newest run does not try them again
}

// Integration is the branch that work lands on, and where it came from; the zero value is none. From and Base are those of
// the first run that had the branch: whatever the user checks out later, the work goes back to where it began.
type Integration struct {
	Branch string `json:"branch,omitempty" yaml:"branch,omitempty"` // as in relay/20260111-x
	From   string `json:"from,omitempty" yaml:"from,omitempty"`     // branch the user was on; empty: none, HEAD was detached
	Base   string `json:"base,omitempty" yaml:"base,omitempty"`     // commit the user was on
	// Finished is the branch that has all that has landed so far; empty: none has.
	Finished string `json:"finished,omitempty" yaml:"finished,omitempty"`
}

// whole returns the zero value unless there is a branch.
func (i Integration) whole() Integration {
	if i.Branch == "" {
		return Integration{}
	}
	return i
}

// take keeps where the work of the first run that has this integration branch is collected.
func (i *Integration) take(rs *RunStarted) {
	if rs.Integration != "" && rs.Integration != i.Branch {
		*i = Integration{Branch: rs.Integration, From: rs.Branch, Base: rs.Base}
	}
}

// Gate keeps a task from being tried until a person says so.
type Gate struct {
	Reason Reason    `json:"reason"`
	Detail string    `json:"detail,omitempty" text:"block"`
	At     time.Time `json:"gated_at,omitzero"`
	Extra  string    `json:"extra,omitempty"` // as in Attempt
}

// Reason is why a task is gated.
type Reason string

// Gate reasons; the first four are the seed's ("Gating Rules").
const (
	MaxAttempts        Reason = "max_attempts_exceeded"
	RepeatedFailure    Reason = "repeated_failure"
	QualityGateBlocked Reason = "quality_gate_blocked"
	UserBlocked        Reason = "user_blocked"
	TamperedWith       Reason = "tampered"
	BudgetExhausted    Reason = "budget_exhausted"
	Infrastructure     Reason = "infrastructure"
)

var reasonWords = map[Reason]string{
	MaxAttempts: "all attempts used", RepeatedFailure: "the same failure again", QualityGateBlocked: "refused by review",
	UserBlocked: "held by a person", TamperedWith: "tampering", BudgetExhausted: "budget used up", Infrastructure: "not the agent's failure",
}

// Words returns the reason as people read it; a reason that relay does not know is returned with spaces for underscores.
func (r Reason) Words() string {
	if words := reasonWords[r]; words != "" {
		return words
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

// Text returns why the task is gated, in one sentence. The detail of used attempts and of repeated failures says so itself.
func (g *Gate) Text() string {
	switch {
	case g.Detail == "":
		return g.Reason.Words()
	case g.Reason == MaxAttempts || g.Reason == RepeatedFailure:
		return g.Detail
	}
	return g.Reason.Words() + ": " + g.Detail
}

// Settings are the limits in force, recorded for readers of the ledger.
type Settings struct {
	MaxAttemptsPerTask int            `json:"max_attempts_per_task" yaml:"max_attempts_per_task"`
	TimeoutMinutes     float64        `json:"timeout_minutes" yaml:"timeout_minutes"`
	Review             ReviewSettings `json:"review" yaml:"review"`
	Extra              string         `json:"extra,omitempty" yaml:"-"` // as in Attempt
}

// ReviewSettings say who reviews.
type ReviewSettings struct {
	Enabled  bool   `json:"enabled" yaml:"enabled"`
	Provider string `json:"provider" yaml:"provider"`
	Extra    string `json:"extra,omitempty" yaml:"-"` // as in Attempt
}

// RelayStatus is the state of the last run.
type RelayStatus struct {
	State          string    `json:"state" yaml:"state"` // "running", "stopped", or "" before the first run
	PID            int       `json:"pid,omitempty" yaml:"pid"`
	StartedAt      time.Time `json:"started_at,omitzero" yaml:"-"`
	StoppedAt      time.Time `json:"stopped_at,omitzero" yaml:"-"`
	LastExitCode   int       `json:"last_exit_code,omitempty" yaml:"last_exit_code"`
	LastExitReason string    `json:"last_exit_reason,omitempty" yaml:"last_exit_reason"`
}

// Folded records up to which event a snapshot goes.
type Folded struct {
	Run string
	Seq uint64
}

// Status is a task's state as it is written in task_status.
type Status string

// The five task states.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	BlockedOn  Status = "blocked" // a dependency is not completed
	Gated      Status = "gated"
)
