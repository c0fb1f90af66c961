// Package attempts is the memory of an epic: every attempt, gate and receipt, as an event log and the ledger folded from it. The log is
// the truth while a run is on; attempt-ledger.yml is the fold of it, complete after every clean stop.
//
// Append is one write of one checksummed line, then fdatasync, shared by concurrent tasks; only then does anyone act. The end of an attempt
// is written at once and shares its sync with the next start (AppendLater): in between nothing is done. The snapshot is replaced
// atomically, at most 5 % of the time while a run is busy, at once when it is idle or stops, and its hash is logged before it is put in
// place, which distinguishes an edit by somebody else from relay's own write. When the logs are undamaged the ledger is folded from them,
// and the YAML is not parsed; otherwise the YAML is the base. After a failed write nothing more is started, and no fsync is tried twice.
//
// An [Event] is a line of the log. A [Ledger] is what the events add up to: a [TaskRecord] for each task, with its attempts, and the state
// of the epic and its last run. Three types give access to a Ledger. A [Store] appends events and keeps attempt-ledger.yml: a run has one,
// under the lock. A [View] is read once, without the lock, and writes nothing. A [Memory] consists of given events and has no files.
//
// Inside, a fold adds events to a Ledger, and updates a progress: the states of the tasks, which depend on each other. A history reads
// the logs of all runs into a fold. A contents compares that with attempt-ledger.yml: Open, Read, Accept, Repair and Validate begin with
// one. A Store has a journal, which writes the log of its run, and a current, which folds what the journal has written.
package attempts

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/epic"
	"relay/epic/each"
	"relay/review"
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
	// Regressed are the checks of completed tasks, and of the epic, that fail on the tip of the newest run that has one.
	Regressed []string
	Sealed    string // what its tasks are measured by, as in RunStarted
	Slots     int    // attempts at a time on the machines that serve the newest run; 0: unknown

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
	AwaitsAnswer       Reason = "question"
)

var reasonWords = map[Reason]string{
	MaxAttempts: "all attempts used", RepeatedFailure: "the same failure again", QualityGateBlocked: "refused by review",
	UserBlocked: "waits for a person", TamperedWith: "tampering", BudgetExhausted: "budget used up", Infrastructure: "not the agent's failure",
	AwaitsAnswer: "asks you",
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

// Record returns what the ledger has of a task: an empty record if no event named it. The caller does not change it.
func (l *Ledger) Record(id string) *TaskRecord { return cmp.Or(l.Tasks[id], &TaskRecord{}) }

// StatusOf returns a task's state. A task is blocked while it is pending and a dependency is not completed.
// With a nil graph no task is blocked.
func (l *Ledger) StatusOf(g *epic.Graph, id string) Status {
	rec := l.Record(id)
	return rec.status(g != nil && !rec.Completed && rec.Gate == nil && len(l.WaitsFor(g, id)) > 0)
}

// WaitsFor lists the dependencies of a task that are not completed.
func (l *Ledger) WaitsFor(g *epic.Graph, id string) []string {
	i, ok := g.Index(id)
	if !ok {
		return nil
	}
	return each.Where(g.Deps(i), func(d int) (string, bool) { return g.ID(d), !l.Record(g.ID(d)).Completed })
}

// GoesOn reports whether the newest run has ended to begin again with another plan: what was asked of it holds for the next one.
func (l *Ledger) GoesOn() bool {
	return l.Status.State == "stopped" && l.Status.LastExitReason == "reload"
}

// Refusal records that a runner would not work when it was last asked, for a reason that a person can put right.
type Refusal struct {
	Runner  string    `json:"runner"`
	Outcome Outcome   `json:"outcome"` // Auth, Model or Start
	Why     string    `json:"why,omitempty"`
	Since   time.Time `json:"since"` // the first such end without another one between
}

// Refusing returns the runners that would not work when they were last asked, by name.
func (l *Ledger) Refusing() []Refusal {
	return each.Of(slices.Sorted(maps.Keys(l.Refused)), func(name string) Refusal { return l.Refused[name] })
}

// EpicReview holds what a panel of reviewers said of all that had landed, once every task was completed.
type EpicReview struct {
	Decision review.Decision `json:"decision,omitempty" yaml:"decision"` // "" : there is none, for what Why says
	At       time.Time       `json:"at,omitzero" yaml:"at"`              // when it ended
	Run      string          `json:"run,omitempty" yaml:"run" text:"own"`
	Base     string          `json:"base" yaml:"base" text:"own"` // commits; judged was base..head
	Head     string          `json:"head" yaml:"head" text:"own"`
	Why      string          `json:"why,omitempty" yaml:"why" max:"1000" text:"block"`
	Summary  string          `json:"summary,omitempty" yaml:"summary" max:"1000" text:"block"` // of the reviewer whose decision it is
	Reviewed `yaml:",inline"`
	Findings []review.Raised `json:"findings,omitempty" yaml:"findings" max:"1000" most:"50"` // that count; each is proposed as a task
	Usage    *Usage          `json:"usage,omitempty" yaml:"usage"`
	Added    []string        `json:"added,omitempty" yaml:"added" text:"own"` // tasks that were made of the findings
}

// LastEpicReview returns the newest one; nil when there is none.
func (l *Ledger) LastEpicReview() *EpicReview {
	if n := len(l.EpicReviews); n > 0 {
		return &l.EpicReviews[n-1]
	}
	return nil
}

// EpicRounds counts the epic reviews that have led to more tasks.
func (l *Ledger) EpicRounds() int {
	return each.Count(l.EpicReviews, func(r *EpicReview) bool { return len(r.Added) > 0 })
}

// setAside ends every attempt of a ledger that relay did not write which is in progress there, and says which these are: its
// relay does not know their agents, so it can neither continue nor blame them.
func (l *Ledger) setAside() []string {
	var notes []string
	for id, rec := range l.Tasks {
		for i := range rec.Attempts {
			if a := &rec.Attempts[i]; a.Result == ResultInProgress {
				a.setAside()
				notes = append(notes, fmt.Sprintf("%s attempt %d is in progress there, and relay did not start it: it counts as interrupted, uncharged", id, a.ID))
			}
		}
	}
	slices.Sort(notes)
	return notes
}

// MaxCauses bounds the root causes that AllRootCauses tells of one task: the first ones must be put right first.
const MaxCauses = 3

// AllRootCauses returns the gated tasks that keep each task from running, by its index in the graph and in file order. It is empty for a
// task that waits only for work that can still be done, and the search ends at a gated task.
func AllRootCauses(l *Ledger, g *epic.Graph) [][]string {
	found := make([][]int, g.Len())
	names := make([][]string, g.Len())
	for _, i := range g.Order() {
		var causes []int
		for _, d := range g.Deps(i) {
			switch rec := l.Record(g.ID(d)); {
			case rec.Completed:
			case rec.Gate != nil:
				causes = append(causes, d)
			default:
				causes = append(causes, found[d]...)
			}
		}
		slices.Sort(causes)
		causes = slices.Compact(causes)
		found[i] = causes[:min(len(causes), MaxCauses)]
		names[i] = each.Of(found[i], g.ID)
	}
	return names
}
