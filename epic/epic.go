// Package epic holds the plan: the tasks of an epic, what each depends on, and how each is proved.
//
// The package is pure: it starts no process, reads no clock and no environment. A plan enters as bytes and leaves
// as a validated [Epic] or as [Problems] that name every mistake at once, each with its line and column.
package epic

import "time"

// Epic is one validated epic.yml (schema version 2; version 1 files have the same keys).
type Epic struct {
	Version     int      `yaml:"version"`
	ID          string   `yaml:"id"`         // YYYYMMDD-slug, at most 64 characters
	Source      string   `yaml:"source"`     // the blueprint it was made from, as written
	CreatedAt   string   `yaml:"created_at"` // RFC 3339, as written
	Title       string   `yaml:"title"`
	Description string   `yaml:"description"`
	Groups      []Group  `yaml:"parallelization"`
	Checks      []Check  `yaml:"checks"`
	Protected   []string `yaml:"protected"` // globs no task may change
	Bead        string   `yaml:"bead"`
	Related     []string `yaml:"related_beads"`
	Tasks       []Task   `yaml:"tasks"` // in file order, which breaks ties in scheduling
}

// Group is one row of the parallelization matrix. Its BlockedBy adds dependencies to every task of the group.
type Group struct {
	Name      string   `yaml:"group"`
	Tasks     []string `yaml:"tasks"`
	BlockedBy []string `yaml:"blocked_by"` // names of other groups
}

// Task is one unit of work, given to one agent at a time. As JSON it is what viewers read of a long plan.
type Task struct {
	ID            string        // [A-Za-z][A-Za-z0-9_-]*, at most 32 characters
	Title         string        `yaml:"title" json:",omitempty"`
	Description   string        `yaml:"description" json:",omitempty"`
	Kind          Kind          `yaml:"kind" json:",omitempty"`
	Priority      int           `yaml:"priority" json:",omitempty"` // 0 (most urgent) to 3; 2 when the file does not say
	Points        float64       `yaml:"points" json:",omitempty"`
	Files         []string      `yaml:"files" json:",omitempty"`      // repository-relative paths and globs
	DependsOn     []string      `yaml:"depends_on" json:",omitempty"` // as written; Graph adds what groups imply
	Criteria      []Criterion   `yaml:"acceptance_criteria" json:",omitempty"`
	Checks        []Check       `yaml:"checks" json:",omitempty"`
	Protected     []string      `yaml:"protected" json:",omitempty"`
	Runner        string        `yaml:"runner" json:",omitempty"`
	Model         string        `yaml:"model" json:",omitempty"`
	Timeout       time.Duration `yaml:"timeout_minutes" json:",omitempty"` // 0: the configured limit
	MaxAttempts   int           `yaml:"max_attempts" json:",omitempty"`    // 0: the configured limit
	BudgetUSD     float64       `yaml:"budget_usd" json:",omitempty"`      // 0: none
	AllowNoChange bool          `yaml:"allow_no_change" json:",omitempty"`
	Source        string        `yaml:"source" json:",omitempty"` // where an imported task stands in the plan it came from: FILE:LINE (ID)
	Line          int           // where the task begins in the file, from 1; 0 when it came from elsewhere
}

// Kind says what sort of work a task is.
type Kind string

// The kinds of task. The empty kind in a file reads as KindFeature.
const (
	KindFeature Kind = "feature"
	KindBugfix  Kind = "bugfix"
	KindReview  Kind = "review"
	KindChore   Kind = "chore"
	KindVerify  Kind = "verify" // nothing may be left to change: the checks decide
	KindPerson  Kind = "person" // only a person can do it: relay approve completes it
)

// Criterion is one acceptance criterion; Check names the check that proves it, or is empty.
type Criterion struct {
	Text  string `yaml:"text"`
	Check string `yaml:"check"`
}

// Check is one acceptance command: the user's own shell text, run by relay, never by an agent.
type Check struct {
	Name    string        `yaml:"name"`            // unique in its list; the command itself when the file gives none
	Run     string        `yaml:"run"`             // for bash -c, or sh -c
	Timeout time.Duration `yaml:"timeout_minutes"` // 0: the configured limit
	Expect  Expect        `yaml:"expect"`
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
