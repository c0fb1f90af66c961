// Package attempts is the memory of an epic: every attempt, gate and receipt, as an event log and the ledger folded from it.
//
// The log is the truth while a run is on; attempt-ledger.yml is the fold of it, complete after every clean stop.
package attempts

import "time"

// Ledger is the fold of all events of an epic: what attempt-ledger.yml says.
type Ledger struct {
	Version   int // 2; version 1 files are read too
	EpicID    string
	StartedAt time.Time
	EndedAt   time.Time // when the last task was completed; zero before
	Settings  Settings
	Tasks     map[string]*TaskRecord
	Status    RelayStatus
	Folded    Folded
}

// TaskRecord is what the ledger knows of one task.
type TaskRecord struct {
	Completed bool      `json:"completed,omitempty"`
	Attempts  []Attempt `json:"attempts,omitempty"`
	Gate      *Gate     `json:"gate,omitempty"`
	// CountFrom is the index in Attempts from which charges count: an ungate or a retry moves it past all before.
	CountFrom int `json:"count_from,omitempty"`
}

// Attempt is one process start for a task. ID counts every start; Charged ones count against the limit.
type Attempt struct {
	ID        int       `json:"id"`
	StartedAt time.Time `json:"started_at"`
	EndedAt   time.Time `json:"ended_at"` // zero while running
	Result    Result    `json:"result"`
	Outcome   Outcome   `json:"outcome,omitempty"`
	Charged   bool      `json:"charged,omitempty"`
	Run       string    `json:"run,omitempty"`
	Runner    string    `json:"runner,omitempty"`
	Model     string    `json:"model,omitempty"`
	Base      string    `json:"base,omitempty"`
	Head      string    `json:"head,omitempty"`
	Session   string    `json:"session_id,omitempty"`
	Usage     *Usage    `json:"usage,omitempty"`
	Receipt   Receipt   `json:"receipt"`
}

// Gate keeps a task from being tried until a person says so.
type Gate struct {
	Reason Reason    `json:"reason"`
	Detail string    `json:"detail,omitempty"`
	At     time.Time `json:"gated_at"`
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

// Settings are the limits in force, recorded for readers of the ledger.
type Settings struct {
	MaxAttemptsPerTask int            `json:"max_attempts_per_task" yaml:"max_attempts_per_task"`
	TimeoutMinutes     float64        `json:"timeout_minutes" yaml:"timeout_minutes"`
	Review             ReviewSettings `json:"review" yaml:"review"`
}

// ReviewSettings say who reviews.
type ReviewSettings struct {
	Enabled  bool   `json:"enabled" yaml:"enabled"`
	Provider string `json:"provider" yaml:"provider"`
}

// RelayStatus is the state of the last run.
type RelayStatus struct {
	State          string // "running", "stopped", or "" before the first run
	PID            int
	StartedAt      time.Time
	StoppedAt      time.Time
	LastExitCode   int
	LastExitReason string
}

// Folded says up to which event a snapshot goes.
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
