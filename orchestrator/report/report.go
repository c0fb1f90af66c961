package report

import (
	"time"

	"relay/attempts"
	"relay/attempts/discussion"
	"relay/orchestrator/decide"
	"relay/orchestrator/view"
	"relay/review"
)

// Report records what one relay work did, which may have been several runs. Its JSON form has a schema,
// report.schema.json. All text in it is cleaned, and without secrets.
type Report struct {
	Version  int       `json:"version"`
	MadeAt   time.Time `json:"made_at"`
	Epic     Epic      `json:"epic"`
	State    State     `json:"state"`
	Headline string    `json:"headline"`
	// Runs are those of the night, oldest first: after a relay reload another one continues. None: there was no run yet.
	Runs      []view.OneRun  `json:"runs"`
	Branch    string         `json:"branch,omitempty"`   // that the work is on; empty: the one that was checked out
	From      string         `json:"from,omitempty"`     // branch that the epic began from; empty: none, HEAD was detached
	Finished  string         `json:"finished,omitempty"` // branch that relay finish put all of it on
	Counts    decide.Counts  `json:"counts"`             // of all tasks, as they are when the report is made
	Tries     Tries          `json:"attempts"`           // of these runs
	Criteria  Criteria       `json:"criteria"`           // of the tasks they touched, and of gated ones
	Needs     []Need         `json:"needs_you"`
	Refused   []view.Refused `json:"refused,omitempty"`
	Next      []view.Command `json:"next"`                  // what to type, in this order
	Judged    *EpicReview    `json:"epic_review,omitempty"` // the newest review of the whole epic
	Usage     attempts.Usage `json:"usage"`
	Spenders  view.Spenders  `json:"spenders"`      // agents with their models, the dearest first
	EpicUsage attempts.Usage `json:"usage_of_epic"` // of all runs there ever were
	Caps      []view.Cap     `json:"caps"`
	Waits     []view.Wait    `json:"waits"`
	Switches  []view.Note    `json:"switches"` // tasks that went from one agent to another
	Notes     []view.Note    `json:"notes"`
	Warnings  []string       `json:"warnings"`
	Tasks     []Task         `json:"tasks"` // every task, in the order of the plan

	Questions   []Need              `json:"open_questions,omitempty"` // of tasks that do not wait for the answer
	Discussions []discussion.Thread `json:"open_discussions,omitempty"`
}

// State says how the newest run of a report is.
type State string

// States of a run. One that ended without a word has crashed.
const (
	Never   State = "never"
	Running State = "running"
	Stopped State = "stopped"
	Crashed State = "crashed"
)

// Epic names the plan.
type Epic struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Source string `json:"source,omitempty"` // the blueprint
}

// Tries counts attempts.
type Tries struct {
	Total     int `json:"total"`
	Succeeded int `json:"succeeded"`
	Charged   int `json:"charged"`   // failed, and counted against their tasks
	Uncharged int `json:"uncharged"` // ended through no fault of the agent
	Running   int `json:"running"`
}

// Criteria counts acceptance criteria by what is known of them.
type Criteria struct {
	Met      int `json:"met"`
	NotMet   int `json:"not_met"`
	Unproven int `json:"unproven"`
}

// Need is a task that waits for a person: it is gated, or completed and needs a look.
type Need struct {
	Task   string          `json:"task"`
	Title  string          `json:"title"`
	Reason attempts.Reason `json:"reason"` // why it is gated, or LookAt
	Detail string          `json:"detail,omitempty"`
	Blocks int             `json:"blocks,omitempty"` // tasks that wait for it
	Type   []view.Command  `json:"type"`
}

// LookAt is the reason of a need of a completed task that a person has to look at; Need.Detail says what relay saw.
const LookAt attempts.Reason = "look"

// Task is one task. It has only its state if it had no attempt in these runs and is not gated.
type Task struct {
	ID         string          `json:"id"`
	Title      string          `json:"title"`
	Status     attempts.Status `json:"status"`
	Touched    bool            `json:"touched"` // it had an attempt in these runs
	Tries      int             `json:"tries"`   // every attempt there ever was
	Charged    int             `json:"charged"` // attempts that count against its limit
	Max        int             `json:"max_attempts"`
	Uncharged  int             `json:"uncharged"` // ended through no fault of the agent
	Seconds    float64         `json:"seconds"`   // of its attempts in these runs
	Usage      *attempts.Usage `json:"usage,omitempty"`
	Cap        *view.Cap       `json:"cap,omitempty"`
	Base       string          `json:"base,omitempty"` // commits of what succeeded, base..head
	Head       string          `json:"head,omitempty"`
	Landed     string          `json:"landed,omitempty"` // commit of the branch that holds it
	Unverified bool            `json:"unverified,omitempty"`
	NoProof    string          `json:"-"`                      // why it is unverified
	Already    bool            `json:"already_done,omitempty"` // before any attempt, as its checks and its agent say
	Gate       *attempts.Gate  `json:"gate,omitempty"`
	Looks      []attempts.Look `json:"looks,omitempty"`       // completed, and a person has to look at this
	RootCauses []string        `json:"root_causes,omitempty"` // gated tasks that keep it from running
	WaitsFor   []string        `json:"waits_for,omitempty"`
	Attempts   []Attempt       `json:"attempts,omitempty"` // of earlier runs too
	Unproven   []string        `json:"unproven,omitempty"` // criteria, before any attempt has been judged
	// CoveredBy are the names of the task's checks, which stand for the criteria that neither a command of their own nor a reviewer proves.
	CoveredBy []string `json:"criteria_covered_by,omitempty"`
}

// Attempt records how one attempt ended.
type Attempt struct {
	ID         int               `json:"id"`
	Run        string            `json:"run,omitempty"`
	Elsewhere  bool              `json:"other_run,omitempty"` // of another night than this one
	StartedAt  time.Time         `json:"started_at,omitzero"` // as of a run
	EndedAt    time.Time         `json:"ended_at,omitzero"`
	Seconds    float64           `json:"seconds"`
	Agent      string            `json:"agent,omitempty"`
	Model      string            `json:"model,omitempty"`
	Host       string            `json:"host,omitempty"` // the machine; "": the one of the run
	Result     attempts.Result   `json:"result"`
	Outcome    attempts.Outcome  `json:"outcome,omitempty"`
	Charged    bool              `json:"charged"`
	Category   attempts.Category `json:"error_category,omitempty"`
	Error      string            `json:"error,omitempty" text:"block"`
	Summary    string            `json:"summary,omitempty" text:"block"` // in the agent's words
	Suggestion string            `json:"suggestion,omitempty" text:"block"`
	Learning   string            `json:"learning,omitempty" text:"block"`
	attempts.Statement
	ResultFrom attempts.ResultSource `json:"result_from,omitempty"` // what stood in for the agent's result
	Files      []string              `json:"files_changed,omitempty"`
	Base       string                `json:"base,omitempty"`
	Head       string                `json:"head,omitempty"`
	Landed     string                `json:"landed,omitempty"`
	Kept       string                `json:"kept,omitempty"` // ref with the work of an attempt that did not land
	Usage      *attempts.Usage       `json:"usage,omitempty"`
	Checks     []attempts.CheckRun   `json:"checks,omitempty"`
	Review     *Review               `json:"review,omitempty"`
	Proofs     []review.Proof        `json:"proofs,omitempty"`
}

// Review holds what the panel said of an attempt.
type Review struct {
	Verdict    review.Decision   `json:"verdict,omitempty"`
	Rounds     int               `json:"rounds,omitempty"` // in which the agent mended what they found
	Split      bool              `json:"split,omitempty"`
	Reviewers  []Reviewer        `json:"reviewers,omitempty"`
	Missing    []Missing         `json:"missing,omitempty"`                  // reviewers without an opinion, through no fault of the agent
	MustChange string            `json:"must_change,omitempty" text:"block"` // what held the change up, as markdown
	Deferred   []DeferredFinding `json:"put_off,omitempty"`
}

// EpicReview holds what the panel said of all that had landed.
type EpicReview struct {
	At       time.Time       `json:"at"`
	Run      string          `json:"run,omitempty"`
	Base     string          `json:"base"` // judged was base..head
	Head     string          `json:"head"`
	Text     string          `json:"text" text:"block"` // what it came to, in words
	Findings []review.Raised `json:"findings,omitempty"`
	Added    []string        `json:"added,omitempty"` // tasks made of them
	Usage    *attempts.Usage `json:"usage,omitempty"`
	Review
}

// Missing is a reviewer who said nothing.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why" text:"block"`
}

// Reviewer is one of them.
type Reviewer struct {
	Name     string                  `json:"name"`
	Model    string                  `json:"model,omitempty"`
	Verdict  review.Decision         `json:"verdict"`
	Summary  string                  `json:"summary,omitempty" text:"block"`
	Findings map[review.Severity]int `json:"findings,omitempty"`
}

// DeferredFinding is a finding that did not hold the change up.
type DeferredFinding struct {
	Why string `json:"why"` // "minor": below the bar of the strictness; "outside": not about the change
	review.Raised
}
