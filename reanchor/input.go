package reanchor

import (
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/reanchor/git"
)

// Input is everything a brief is made from: plain data, so that the same input gives the same bytes anywhere. The
// brief leaves out zero fields, except where said.
type Input struct {
	Facts      git.Facts // of the checkout the agent will work in
	Base       string    // commit the attempt begins from
	Epic       About
	Progress   Progress
	Task       epic.Task
	EpicChecks []epic.Check // also run, on the merged tree
	Red        []string     // names of EpicChecks that fail on Base
	Passing    []string     // names of the task's checks that have to fail on Base; set when all its checks pass there
	Protected  []string     // globs of the epic; the task's own are in Task

	Dependants   []TaskName          // tasks that build on this one
	Dependencies []Dependency        // what the task depends on, in the order of the plan
	Record       attempts.TaskRecord // earlier attempts; one that is still in progress is passed over

	Handoff   Handoff    // left by the last run, by a person, or by another program
	Learnings []Learning // of this epic, most useful first
	Threads   []Thread   // questions that are open
	Documents []string   // that the agent is to follow, as far as they exist in the checkout
	Required  []string   // documents that the project wants every agent to read, which exist there too
	Entries   []Entry    // what others recorded of the task's files, the newest first
	Landed    []string   // attempts that completed the tasks of the epic, as in "T1/2"

	// TakenUp is the earlier attempt whose work is in the checkout again, not committed; 0: none.
	TakenUp int

	Agent Agent // who reads it; its zero value is a CLI that relay does not know

	NeverAsk    bool          // the agent is not to wait for a person's answer
	MaxAttempts int           // charged failures after which the task is gated
	Wall        time.Duration // left for this attempt
	Silence     time.Duration // after which an agent without output is stopped; 0: no limit
	BudgetUSD   float64       // left for this attempt; 0: no bound
	Tokens      int64         // the same
	Dir         string        // relay's own folder, relative to the root; "" means .agents-os/relay
	NoCommits   bool          // others work in the same checkout: relay takes care of commits
	Worktree    bool          // the agent works in a worktree of its own

	MaxBytes int // of the brief; 0 means 48 KiB, and less than 8 KiB means 8 KiB
}

// About holds what a brief says of the epic.
type About struct {
	ID, Title, Description, Bead string
	Source                       string // the plan it was made of, where the agent's checkout has it
	Whole                        string // a file with the whole description, told when the brief has only its beginning
}

// Progress counts tasks by state and names some of each; the caller need not name more than a handful.
type Progress struct {
	Total, Done, Running, Left, Gated              int
	DoneTasks, RunningTasks, LeftTasks, GatedTasks []TaskName
}

// Agent is the CLI that gets the brief.
type Agent struct {
	Type    string // of a CLI that relay knows: claude, codex, …; "": a command
	Forbids string // what its sandbox forbids, in a sentence
}

// TaskName is a task as it is mentioned in a list.
type TaskName struct{ ID, Title string }

// Dependency is a task this one builds on, with the receipt of the attempt that completed it.
type Dependency struct {
	ID, Title string
	Head      string // commit its work ends at
	Receipt   attempts.Receipt
	Answers   []attempts.Answer // of the user to questions of its agents
}

// Learning is something an earlier attempt found out.
type Learning struct{ Task, Text string }

// Handoff is what a session has left for the next one.
type Handoff struct {
	ID      string // of its LedgerSync entry; "" : it is none
	By, Age string // who left it, and how long ago, in words
	Text    string
	Context string // what it says one has to know
}

// Thread is an open question.
type Thread struct{ By, Age, Question string }

// Entry is a record of work on some of the task's files.
type Entry struct {
	ID      string // of the LedgerSync entry
	By, Age string // who wrote it, and how long ago, in words
	Files   []string
	Text    string
}
