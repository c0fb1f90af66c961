// Package epic holds the plan: the tasks of an epic, what each depends on, and how each is proved.
//
// The package is pure: it starts no process, reads no clock and no environment. A plan enters as bytes and leaves
// as a validated [Epic] or as [Problems] that name every mistake at once, each with its line and column.
package epic

import "time"

// Epic is one validated epic.yml (schema version 2; version 1 files have the same keys).
type Epic struct {
	Version     int
	ID          string // YYYYMMDD-slug, at most 64 characters
	Source      string // the blueprint it was made from, as written
	CreatedAt   string // RFC 3339, as written
	Title       string
	Description string
	Groups      []Group
	Tasks       []Task // in file order, which breaks ties in scheduling
	Checks      []Check
	Protected   []string // globs no task may change
	Bead        string
}

// Group is one row of the parallelization matrix. Its BlockedBy adds dependencies to every task of the group.
type Group struct {
	Name      string
	Tasks     []string
	BlockedBy []string // names of other groups
}

// Task is one unit of work, given to one agent at a time.
type Task struct {
	ID            string // [A-Za-z][A-Za-z0-9_-]*, at most 32 characters
	Title         string
	Description   string
	Kind          Kind
	Priority      int // 0 (most urgent) to 3; 2 when the file does not say
	Points        float64
	Files         []string // repository-relative paths and globs
	DependsOn     []string // as written; Graph adds what groups imply
	Criteria      []Criterion
	Checks        []Check
	Protected     []string
	Runner        string
	Model         string
	Timeout       time.Duration // 0: the configured limit
	MaxAttempts   int           // 0: the configured limit
	BudgetUSD     float64       // 0: none
	AllowNoChange bool
	Source        string // where an imported task stands in the plan it came from: FILE:LINE (ID)
	Line          int    // where the task begins in the file, from 1; 0 when it came from elsewhere
}

// Kind says what sort of work a task is.
type Kind string

// The kinds of task. The empty kind in a file reads as KindFeature.
const (
	KindFeature Kind = "feature"
	KindBugfix  Kind = "bugfix"
	KindReview  Kind = "review"
	KindChore   Kind = "chore"
)

// Criterion is one acceptance criterion; Check names the check that proves it, or is empty.
type Criterion struct {
	Text  string
	Check string
}

// Check is one acceptance command: the user's own shell text, run by relay, never by an agent.
type Check struct {
	Name    string        // unique in its list; the command itself when the file gives none
	Run     string        // for sh -c
	Timeout time.Duration // 0: the configured limit
	Expect  Expect
}

// Expect says what a check must do to count as proof.
type Expect string

// ExpectPass wants exit status 0 after the work; ExpectRedThenGreen also wants a failure before it.
const (
	ExpectPass         Expect = "pass"
	ExpectRedThenGreen Expect = "red_then_green"
)

// Task returns the task with the given id.
func (e *Epic) Task(id string) (*Task, bool) {
	for i := range e.Tasks {
		if e.Tasks[i].ID == id {
			return &e.Tasks[i], true
		}
	}
	return nil, false
}
