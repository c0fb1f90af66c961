package decide

import (
	"time"

	"relay/attempts"
)

// Update tells a watcher one change of state, or a line of an agent's doing.
type Update struct {
	At        time.Time
	Kind      UpdateKind
	Task      string
	Title     string
	Attempt   int  // its number in the ledger
	Try       int  // this attempt would be the Try-th charged one …
	Max       int  // … of Max
	Spent     bool // Failed: the task is gated next unless what it builds on changes first
	Runner    string
	Text      string           // clean, one line
	Budget    string           // Run: what it may cost, in words; "" : anything
	Outcome   attempts.Outcome // Waiting: of the last attempt of the runner that is waited for
	Fix       string           // Waiting: what a person can type for that runner; a watcher fills it in
	Until     time.Time        // Waiting, Cramped
	Elapsed   time.Duration    // Completed, Failed, Gated, Stopped: of the attempt
	Usage     attempts.Usage   // Used: of the attempt so far; when it ended: of all of it; Run: what its caps count already
	Looks     []attempts.Look  // Completed, Gated: what a person has to look at
	Questions []string         // Completed, Gated: what the agent asks
	Counts    Counts
}

// UpdateKind names a change of state.
type UpdateKind string

// Kinds of updates.
const (
	UpdateRun     UpdateKind = "run"        // the run began; Text is the run id
	Started       UpdateKind = "started"    // an attempt began
	Activity      UpdateKind = "activity"   // the agent did something; not a change of state
	Used          UpdateKind = "usage"      // an attempt, or the review of the epic, has used something; not a change of state
	SettingUp     UpdateKind = "setting_up" // set-up commands run; Text is the command
	Checking      UpdateKind = "checking"   // acceptance commands run; Text is the command's name
	Reviewing     UpdateKind = "reviewing"  // the reviewer was asked
	Mending       UpdateKind = "mending"    // the agent was given its findings; Text is the round
	Verified      UpdateKind = "proved"     // its work is proved and waits to land; its job is free for another task
	Completed     UpdateKind = "completed"
	UpdateFailed  UpdateKind = "failed" // a charged failure; the task will be tried again
	Retry         UpdateKind = "retry"  // an uncharged end; the task will be tried again
	Gated         UpdateKind = "gated"
	Stopped       UpdateKind = "stopped"  // a person has stopped it; this run does not try it again
	Held          UpdateKind = "held"     // no agent was asked; the task waits until nothing else is left to do
	UpdateWaiting UpdateKind = "waiting"  // nothing can start before Until
	Cramped       UpdateKind = "cramped"  // the machine has no room for another attempt; Runner is what it lacks
	Paused        UpdateKind = "paused"   // the circuit breaker is open until Until; Runner says what for
	Note          UpdateKind = "note"     // something a person should know
	Request       UpdateKind = "request"  // a person has asked this of the run
	Stopping      UpdateKind = "stopping" // nothing more is started
)
