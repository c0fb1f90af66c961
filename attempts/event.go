package attempts

import (
	"cmp"
	"encoding/json"
	"time"

	"relay/attempts/ledgersync"
	"relay/epic/plaintext"
	"relay/review"
)

// Event is one line of the event log. Exactly one of the pointers is set, by Type, but for Request, which may stand beside it; a
// reader that meets a Type it does not know keeps the line and skips it.
type Event struct {
	Seq     uint64    `json:"seq"`              // from 1, without gaps, over all runs of an epic; set by Append
	Synced  uint64    `json:"synced,omitempty"` // events durable when this one was written; 0 means all before it; set by Append
	At      time.Time `json:"at"`               // UTC; set by Append
	Run     string    `json:"run"`              // set by Append
	Type    Type      `json:"type"`
	Task    string    `json:"task,omitempty"`
	Attempt int       `json:"attempt,omitempty"`

	RunStarted   *RunStarted     `json:"run_started,omitempty"`
	RunStopped   *RunStopped     `json:"run_stopped,omitempty"`
	Started      *Started        `json:"started,omitempty"`
	Landing      *Ended          `json:"landing,omitempty"`
	Ended        *Ended          `json:"ended,omitempty"`
	Gate         *Gate           `json:"gate,omitempty"`
	Note         *Note           `json:"note,omitempty"`
	Finished     *Finished       `json:"finished,omitempty"`
	Written      *Written        `json:"written,omitempty"`
	Accepted     *Accepted       `json:"accepted,omitempty"`
	Cooldown     *Cooldown       `json:"cooling,omitempty"`
	Waiting      *Waiting        `json:"waiting,omitempty"`
	Reviewed     *ReviewProgress `json:"reviewed,omitempty"`
	Undone       *Undone         `json:"undone,omitempty"`
	Phase        string          `json:"phase,omitempty"`
	EpicReviewed *EpicReview     `json:"epic_reviewed,omitempty"`
	TasksAdded   *TasksAdded     `json:"tasks_added,omitempty"`
	Briefed      *Briefed        `json:"briefed,omitempty"`
	PullRequest  *PullRequest    `json:"pull_request,omitempty"`
	Answer       *Answer         `json:"answer,omitempty"`  // also beside an ungate or a reset
	Request      *Request        `json:"request,omitempty"` // a person has asked for this during the run
	Steps        []Step          `json:"steps,omitempty"`   // of the run, up to this event, as far as no event before it has them
	Link         string          `json:"link,omitempty"`    // a hash of all lines before this one; set by Append
}

// Type names what happened.
type Type string

// The event types of log version 1.
const (
	TypeRunStarted     Type = "run_started"
	TypeRunStopped     Type = "run_stopped"
	TypeAttemptStarted Type = "attempt_started"
	TypeLanding        Type = "landing" // everything the attempt_ended to come will say, before the integration branch moves
	TypeAttemptEnded   Type = "attempt_ended"
	TypeGated          Type = "gated"    // a person gated the task, or its budget or its attempts were used up before one began
	TypeUngated        Type = "ungated"  // a person undid a gate; earlier charges no longer count
	TypeReopened       Type = "reopened" // relay lifted a gate, as what it depends on has changed; earlier charges count
	TypeApproved       Type = "approved" // a person approved what relay could not judge of a completed task
	TypeProved         Type = "proved"   // checks of what landed later prove a completed task that nothing proved
	TypeAnswered       Type = "answered" // a person answered questions of the task's agents; lifts a gate that waits for that
	TypeReset          Type = "reset"    // relay retry: pending again, earlier charges no longer count
	TypeUndone         Type = "undone"   // work that landed later broke a completed task: pending again, earlier charges no longer count
	TypeNote           Type = "note"     // something a person should know: an incident, a wait, a repair
	TypeFinished       Type = "finished" // a person put what has landed on the branch it belongs to
	TypeWritten        Type = "written"  // the snapshot about to be put in place
	TypeAccepted       Type = "accepted" // a foreign edit of the ledger taken in
	TypeCooldown       Type = "cooling"  // a runner is not to be asked for a while, in later runs neither
	TypeWaiting        Type = "waiting"  // nothing can start for a while
	TypeReviewed       Type = "reviewed" // what reviewers have said of an attempt under way: it is paid for
	TypeEpicReviewed   Type = "epic_reviewed"
	TypeTasksAdded     Type = "tasks_added"  // what an epic review found is to be done
	TypeBriefed        Type = "briefed"      // an attempt's brief was written; not synced of its own
	TypePullRequest    Type = "pull_request" // a person asked for one of what has landed
	TypePhase          Type = "phase"        // part of an attempt that begins: activity, checking or reviewing; not synced of its own
	TypeRequested      Type = "requested"    // a person asked something of the run, which changes no gate
)

// RunStarted opens a run.
type RunStarted struct {
	Version  int      `json:"version"` // of the log format
	EpicID   string   `json:"epic_id"`
	PID      int      `json:"pid"`
	Jobs     int      `json:"jobs"`
	Settings Settings `json:"settings"`
	// Where the work is collected: nowhere, unless Integration is set.
	Integration string `json:"integration,omitempty"` // branch that work lands on, as in relay/20260111-x
	Branch      string `json:"branch,omitempty"`      // branch the user was on when the run began; empty: none, HEAD was detached
	Base        string `json:"base,omitempty"`        // commit the user was on
	Sealed      string `json:"sealed,omitempty"`      // SHA-256, in hex, of the acceptance of the epic and of all tasks

	Until time.Time `json:"until,omitzero"`  // the run's deadline
	Tasks []string  `json:"tasks,omitempty"` // it is about these, and what they depend on; empty: all

	Relay   string   `json:"relay,omitempty"`   // version of relay
	Tip     string   `json:"tip,omitempty"`     // commit that the work is collected on, as the run found it
	Sandbox string   `json:"sandbox,omitempty"` // what holds agents and checks; empty: nothing, or not all of them
	Outside []string `json:"outside,omitempty"` // commands of set-up and checks that run outside of it
	Remote  string   `json:"remote,omitempty"`  // address of the remote of the branch that the work is collected on, without credentials

	Handoff *ledgersync.LeftBehind `json:"handoff,omitempty"` // of another program, which briefs quote and nothing has answered
}

// RunStopped closes a run.
type RunStopped struct {
	ExitCode int    `json:"exit_code"`
	Reason   string `json:"reason"`        // epic_complete, no_runnable_tasks, interrupted, reload, crashed, error, budget_exhausted, deadline, circuit_breaker, …
	Why      string `json:"why,omitempty"` // in words, of a reason that is a limit of the run

	Tip       string   `json:"tip,omitempty"`      // the commit on which the checks of all that has landed were run again
	Regressed []string `json:"relapsed,omitempty"` // those that fail there, in words
	Head      string   `json:"head,omitempty"`     // commit that the work is collected on, as the run left it
}

// Started is written before an agent starts.
type Started struct {
	Runner string `json:"runner"`
	Model  string `json:"model,omitempty"`
	Base   string `json:"base,omitempty"`   // commit the attempt began from
	Sealed string `json:"sealed,omitempty"` // SHA-256, in hex, of the task's acceptance and the epic's: checks and protected globs

	CLI     string `json:"cli,omitempty"`         // the type of the agent in the configuration; "script" for a scripted one
	Version string `json:"cli_version,omitempty"` // by where it is installed; "": that does not say
	Dir     string `json:"dir,omitempty"`         // folder it works in, absolute
	Session string `json:"session_id,omitempty"`  // where relay chooses it
	Outside bool   `json:"outside,omitempty"`     // its agent works outside of the sandbox of the run
}

// Ended closes an attempt, with everything that follows from it: charge, receipt and gate are one fact.
type Ended struct {
	Result  Result  `json:"result"`
	Outcome Outcome `json:"outcome"`
	Charged bool    `json:"charged"`
	Head    string  `json:"head,omitempty" text:"own"`
	Landed  string  `json:"landed,omitempty" text:"own"` // commit of the integration branch that holds the work
	Model   string  `json:"model,omitempty"`
	Session string  `json:"session_id,omitempty" text:"own"`
	Usage   *Usage  `json:"usage,omitempty"`
	Receipt Receipt `json:"receipt"`
	Gate    *Gate   `json:"gate,omitempty" text:"own"`

	Changes []FileChange `json:"changes,omitempty" most:"500"` // from the attempt's base to its head, as git tells them; see MoreChanges
	Tools   []ToolUse    `json:"tools,omitempty" most:"50"`    // of the agent, the most used first

	Seen        time.Time `json:"seen,omitzero"`          // the attempt of a killed run: when it last printed or changed something; zero: it ended now
	MoreChanges int       `json:"more_changes,omitempty"` // files changed that are not in Changes, which were too many

	Cause    string          `json:"cause,omitempty"`    // the rule that decided the outcome; "": the log of an older relay
	Evidence json.RawMessage `json:"evidence,omitempty"` // what it decided from; nil: the run decided, or there was too much of it
}

// Undone records that a check of a completed task fails on the integration branch since other work has landed.
type Undone struct {
	At    time.Time `json:"at" yaml:"at"`                           // when the check was run
	Tip   string    `json:"tip" yaml:"tip"`                         // the commit it fails on
	Since []string  `json:"since,omitempty" yaml:"since,omitempty"` // tasks that have landed after this one, the last first
	Check CheckRun  `json:"check" yaml:"check"`
}

// Note tells a person something that changes no state.
type Note struct {
	Kind string `json:"kind"` // tamper, restored, stray, wait, torn_tail, salvage, …
	Text string `json:"text"`
}

// Finished records that a branch has what had landed on the integration branch.
type Finished struct {
	Branch string `json:"branch"` // the integration branch
	Into   string `json:"into"`
	How    string `json:"how"`  // fast-forward, merge or rebase; hand: Into had it already
	From   string `json:"from"` // commits Into was at, and is at
	To     string `json:"to"`
}

// Written records a snapshot's bytes before they are put in place, to distinguish a foreign edit from our own.
type Written struct {
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
	Seq    uint64 `json:"seq"` // events in the snapshot
}

// Accepted carries task records that do not follow from the events before it: those a foreign edit changed, or, with
// Base, all that was known of the epic before this log begins.
type Accepted struct {
	Tasks map[string]TaskRecord `json:"tasks"`
	Base  *Base                 `json:"base,omitempty"`
}

// Base records that this event is one of those a log begins with when what came before is known from a ledger only.
type Base struct {
	EpicID      string      `json:"epic_id"`
	StartedAt   time.Time   `json:"started_at"`
	EndedAt     time.Time   `json:"ended_at"`
	Settings    Settings    `json:"settings"`
	Integration Integration `json:"integration,omitzero"`
	Part        int         `json:"part"` // from 1
	Parts       int         `json:"parts"`
	Extra       string      `json:"extra,omitempty"` // keys of a foreign ledger that mean nothing here, as YAML

	EpicReviews []EpicReview `json:"epic_reviews,omitempty"` // in the first part

	Status RelayStatus `json:"relay_status,omitzero"` // of the last run before it
}

// Receipt is the structured memory of one attempt, in the seed's fields and relay's (attempt ledger, "Receipt Structure").
type Receipt struct {
	Summary       string          `json:"summary,omitempty" yaml:"summary,omitempty" text:"block"`
	FilesChanged  []string        `json:"files_changed,omitempty" yaml:"files_changed,omitempty"`
	ErrorCategory Category        `json:"error_category,omitempty" yaml:"error_category,omitempty"`
	ErrorSummary  string          `json:"error_summary,omitempty" yaml:"error_summary,omitempty" text:"block"`
	Verdict       review.Decision `json:"quality_gate_verdict,omitempty" yaml:"quality_gate_verdict,omitempty"`
	Findings      string          `json:"quality_gate_findings,omitempty" yaml:"quality_gate_findings,omitempty" text:"block"` // markdown
	Suggestion    string          `json:"suggestion,omitempty" yaml:"suggestion,omitempty" text:"block"`
	Learning      string          `json:"learning,omitempty" yaml:"learning,omitempty" text:"block"`
	PatternTags   []string        `json:"pattern_tags,omitempty" yaml:"pattern_tags,omitempty"`
	Checks        CheckRuns       `json:"checks,omitempty" yaml:"checks,omitempty"`
	Claimed       string          `json:"claimed,omitempty" yaml:"claimed,omitempty"` // what the agent said of itself: success or failure
	ResultFrom    ResultSource    `json:"result_from,omitempty" yaml:"result_from,omitempty"`
	AlreadyDone   bool            `json:"already_done,omitempty" yaml:"already_done,omitempty"` // nothing had to change: its checks pass on the base
	DiffStat      string          `json:"diff_stat,omitempty" yaml:"diff_stat,omitempty" text:"block"`
	Change        string          `json:"change,omitempty" yaml:"change,omitempty" text:"own"` // digest of the files, when a failed check printed nothing
	Statement     `yaml:",inline"`
	Salvage       string    `json:"salvage,omitempty" yaml:"salvage,omitempty" text:"own"`     // ref with work that did not land
	Refused       []string  `json:"refused,omitempty" yaml:"refused,omitempty"`                // by the sandbox, to its agent, its reviewers and its failed checks
	Kept          []string  `json:"also_kept,omitempty" yaml:"also_kept,omitempty" text:"own"` // further refs: what its agent left elsewhere
	Contested     []string  `json:"contested,omitempty" yaml:"contested,omitempty"`            // files over which it could not land
	WeakerTests   []string  `json:"weaker_tests,omitempty" yaml:"weaker_tests,omitempty"`      // tests that prove less, or something else
	Looks         []Look    `json:"looks,omitempty" yaml:"looks,omitempty"`                    // of work that lands
	Review        *Reviewed `json:"review,omitempty" yaml:"review,omitempty"`
	SessionUsage  *Usage    `json:"session_usage,omitempty" yaml:"session_usage,omitempty"` // of the agent's session so far, if not the attempt's
	Host          string    `json:"host,omitempty" yaml:"host,omitempty"`                   // the machine that carried it out; "": this one
	Extra         string    `json:"extra,omitempty" yaml:"-" text:"block"`                  // as in Attempt
}

// AwaitsReview reports whether nothing but a reviewer's opinion was missing.
func (r Receipt) AwaitsReview() bool {
	return r.Review != nil && len(r.Review.Missing) > 0 && r.Verdict == ""
}

// Look is something that relay saw of work that lands and that it cannot judge: a person has to.
type Look struct {
	Cause string `json:"cause" yaml:"cause"` // the row of the table of looks
	Text  string `json:"text" yaml:"text"`   // one line
}

// ResultSource says what decided that an attempt is a success or not when its agent gave no result in relay's form.
type ResultSource string

// Sources of a result; "" is the agent itself, as its brief requires.
const (
	ResultLoose     ResultSource = "block"     // a block of its last message without relay's mark
	ResultChecks    ResultSource = "checks"    // the task's own checks
	ResultReviewers ResultSource = "reviewers" // who looked at what it has mended
	ResultAsked     ResultSource = "asked"     // the agent, when relay asked again
)

// Occasions on which an acceptance command is run, as they stand in receipts.
const (
	PhaseBaseline = "baseline" // before the work
	PhaseTask     = "task"     // one of the task, on its work
	PhaseMerged   = "merged"   // one of the epic, on the work or on the merged tree
)

// CheckRuns are the acceptance commands of an attempt, in their order.
type CheckRuns []CheckRun

// CheckRun is one acceptance command as relay ran it.
type CheckRun struct {
	Name        string      `json:"name" yaml:"name" max:"200"`
	ExitCode    int         `json:"exit_code" yaml:"exit_code"`
	Seconds     float64     `json:"seconds" yaml:"seconds"`
	Log         string      `json:"log,omitempty" yaml:"log,omitempty" text:"own"` // path below the relay folder
	SHA256      string      `json:"log_sha256,omitempty" yaml:"log_sha256,omitempty" text:"-"`
	Tail        string      `json:"tail,omitempty" yaml:"tail,omitempty" max:"4096" text:"block"` // end of a failed check's output, at most 4 KiB
	Phase       string      `json:"phase,omitempty" yaml:"phase,omitempty" text:"own"`
	FailedTests int         `json:"failed_tests,omitempty" yaml:"failed_tests,omitempty"` // what it printed of them; 0: nothing
	RanTests    int         `json:"ran_tests,omitempty" yaml:"ran_tests,omitempty"`
	Attribution Attribution `json:"attribution,omitempty" yaml:"attribution,omitempty"` // before the work and after it; "": it did not run before
	Refused     []string    `json:"refused,omitempty" yaml:"refused,omitempty"`         // by the sandbox, when it failed
}

var phaseWords = map[string]string{PhaseBaseline: "before the work", PhaseTask: "check of the task", PhaseMerged: "check of the epic"}

// PhaseText returns the phase as people read it.
func (c *CheckRun) PhaseText() string { return cmp.Or(phaseWords[c.Phase], "check") }

// Attribution says whose doing a check's outcome is.
type Attribution string

// Attributions, by what the check did on the base and on the work.
const (
	StayedClean  Attribution = "clean"          // passed, passed
	BrokenByTask Attribution = "broken_by_task" // passed, failed
	BrokenBefore Attribution = "broken_before"  // failed, failed
	FixedByTask  Attribution = "fixed_by_task"  // failed, passed
)

// Category is a failure's error_category.
type Category string

// Categories of the seed, of programs in the wild, and relay's own.
const (
	MissingDependency Category = "missing_dependency"
	CodeError         Category = "code_error"
	TestFailure       Category = "test_failure"
	QualityGate       Category = "quality_gate"
	CLIError          Category = "cli_error"
	TimedOut          Category = "timeout"
	NoResult          Category = "no_result"
	NoChange          Category = "no_change"
	ContextSpent      Category = "context_exhausted"
	TurnsSpent        Category = "turns_exhausted"
	ModelRefused      Category = "refused"
	AgentKilled       Category = "killed"
	Conflicted        Category = "conflict"
	Tampered          Category = "tamper"
	RateLimited       Category = "rate_limited"
	ProviderError     Category = "provider_error"
	AuthError         Category = "auth"
	ModelUnknown      Category = "model_unknown"
	BudgetSpent       Category = "budget"
	Interrupted       Category = "interrupted"
	Question          Category = "question"
)

// ChangeKind says what became of a file.
type ChangeKind string

// Kinds of changes.
const (
	FileAdded    ChangeKind = "added"
	FileModified ChangeKind = "modified" // also its mode or its type
	FileDeleted  ChangeKind = "deleted"
	FileRenamed  ChangeKind = "renamed"
)

// FileChange is what git says of one file between an attempt's base and its head.
type FileChange struct {
	Path    string     `json:"path"` // slash-separated, from the top of the repository
	Kind    ChangeKind `json:"kind"`
	From    string     `json:"from,omitempty"`    // path before, of a renamed one
	Added   int        `json:"added,omitempty"`   // lines; 0 of a binary file
	Deleted int        `json:"deleted,omitempty"` // lines; 0 of a binary file
}

// ToolUse says how often an agent has used one of its tools.
type ToolUse struct {
	Name   string `json:"name"`
	Calls  int    `json:"calls"`
	Failed int    `json:"failed,omitempty"` // of them
}

// Briefed says what an attempt's brief holds.
type Briefed struct {
	Bytes     int      `json:"bytes"`
	Dir       string   `json:"dir,omitempty"`       // folder that the attempt works in, absolute
	Host      string   `json:"host,omitempty"`      // the machine; "": that of the run
	Slots     int      `json:"slots,omitempty"`     // attempts at a time on all machines that serve; 0: there is only that of the run
	Handoff   string   `json:"handoff,omitempty"`   // id of the LedgerSync entry that it quotes
	Entries   int      `json:"entries,omitempty"`   // LedgerSync entries quoted, with the handoff
	Documents []string `json:"documents,omitempty"` // names of documents it tells the agent to read
	Files     []string `json:"files,omitempty"`     // of the repository, named in it
	Unclear   []string `json:"unclear,omitempty"`   // questions about the task that are still open
	Continues bool     `json:"continues,omitempty"` // work of an earlier attempt is in the checkout
	Cut       []string `json:"cut,omitempty"`       // sections that did not fit
}

// PullRequest says where what has landed was offered.
type PullRequest struct {
	URL    string `json:"url"`
	Branch string `json:"branch"` // pushed
	Into   string `json:"into,omitempty"`
}

// Cooldown records that a runner is not to be asked before a time. Without Until it may be asked again at once: a person has said so.
type Cooldown struct {
	Runner string    `json:"runner"`
	Until  time.Time `json:"until,omitzero"`
	Named  bool      `json:"named,omitempty"` // by the provider, as the time its usage limit ends; else it is relay's own back-off
	Why    string    `json:"why,omitempty"`

	Outcome Outcome `json:"outcome,omitempty"` // of the attempt that failed so; empty in older logs
}

// Refused reports whether the runner would not work for a reason that a person can put right.
func (c Cooldown) Refused() bool { return refuses(c.Outcome) }

// Waiting records that nothing can start before a time, and what for. It holds until an attempt starts or the run ends.
type Waiting struct {
	Until time.Time `json:"until"`
	For   string    `json:"for"` // a runner, or what the machine lacks
	Why   string    `json:"why,omitempty"`
}

// TasksAdded records that the findings of the last epic review became tasks of the epic.
type TasksAdded struct {
	Tasks []string `json:"tasks"`
}

// Request is what a person has asked of a run that is on. Where that changes a gate, the event is the gate's own, with the request
// beside it; any other has type [TypeRequested].
type Request struct {
	What   RequestKind `json:"what"`
	By     string      `json:"by"` // [Person]
	Reason string      `json:"reason,omitempty"`
}

// Person is who may ask something of a run.
const Person = "person"

// RequestKind names what can be asked of a run that is on.
type RequestKind string

// Requests to a run.
const (
	RequestGate     RequestKind = "gate"     // keep a task from being tried; its running attempt goes on
	RequestUngate   RequestKind = "ungate"   // try a gated task again
	RequestApprove  RequestKind = "approve"  // take a completed task with what relay could not judge of it
	RequestAnswer   RequestKind = "answer"   // answer questions of a task's agents, which lifts a gate that waits for that
	RequestRetry    RequestKind = "retry"    // the same for one that was stopped, or that waits for a runner: at once
	RequestStop     RequestKind = "stop"     // end a task's running attempt, and do not try it again in this run; without a task: end the run
	RequestPause    RequestKind = "pause"    // start nothing new
	RequestContinue RequestKind = "continue" // the pause is over
)

type (
	// Statement is what an agent says of its work besides its summary, as results and receipts have it.
	Statement = plaintext.Statement
	// Discovery is work that an agent has found and not done.
	Discovery = plaintext.Discovery
	// Implementation is what an agent says of something it has built.
	Implementation = plaintext.Implementation
	// Bugfix is what an agent says of a fault it has fixed.
	Bugfix = plaintext.Bugfix
	// Inspection is what an agent says of code that it was to judge.
	Inspection = plaintext.Inspection
	// InspectionFinding is one thing that was found.
	InspectionFinding = plaintext.InspectionFinding
)
