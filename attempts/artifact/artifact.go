// Package artifact reads and writes the unified artifacts of Continuous Claude: YAML files below thoughts/shared/handoffs in which
// a session says what its goal was, where it stands, and what the next one has to know.
//
// Everything about that format belongs here: the artifact and its three modes, the JSON Schema, the lenient reader, the strict
// writer, validation, and the import of older files. The artifacts that relay itself writes do not.
package artifact

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"relay/attempts/internal/durable"
)

// SchemaVersion is the version of the format that is written.
const SchemaVersion = "1.0.0"

// Mode says what an artifact is for.
type Mode string

// The modes of artifacts.
const (
	Checkpoint Mode = "checkpoint" // a snapshot of work that goes on
	Handoff    Mode = "handoff"    // what the next session needs to go on
	Finalize   Mode = "finalize"   // what came of work that is complete
)

// Modes lists the modes of artifacts.
func Modes() []Mode { return []Mode{Checkpoint, Handoff, Finalize} }

// RequiresBead reports whether an artifact of a mode must name its primary bead.
func RequiresBead(m Mode) bool { return m == Handoff || m == Finalize }

// Outcome says how far a session came.
type Outcome string

// The outcomes of sessions.
const (
	Succeeded    Outcome = "SUCCEEDED"     // the goal is reached
	PartialPlus  Outcome = "PARTIAL_PLUS"  // most of it is
	PartialMinus Outcome = "PARTIAL_MINUS" // some of it is
	Failed       Outcome = "FAILED"        // nothing of it is
)

// Outcomes lists the outcomes of sessions.
func Outcomes() []Outcome { return []Outcome{Succeeded, PartialPlus, PartialMinus, Failed} }

// ParseOutcome reads an outcome as people and older files write it: in any case, and also SUCCESS, PARTIAL and FAILURE.
func ParseOutcome(text string) (o Outcome, ok bool) {
	o = Outcome(strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToUpper(strings.TrimSpace(text))))
	o = cmp.Or(map[Outcome]Outcome{"SUCCESS": Succeeded, "PARTIAL": PartialPlus, "FAILURE": Failed}[o], o)
	return o, slices.Contains(Outcomes(), o)
}

// Artifact is one file, with its keys in their order. Extra, here and below, holds keys that the format does not know: they are kept when a
// file is read and written again. The form of a field is line for a text on one line, and self for the field that a text in place of the
// struct stands for.
type Artifact struct {
	Version     string  `yaml:"schema_version,omitempty" form:"line"`
	Mode        Mode    `yaml:"mode,omitempty" form:"line"`
	Date        string  `yaml:"date,omitempty" form:"line"`    // ISO 8601, a date or a date and time with its zone
	Session     string  `yaml:"session,omitempty" form:"line"` // also the name of its folder
	Outcome     Outcome `yaml:"outcome,omitempty" form:"line"`
	PrimaryBead string  `yaml:"primary_bead,omitempty" form:"line"` // what the work is about; handoff and finalize need it
	SessionID   string  `yaml:"session_id,omitempty" form:"line"`
	AgentID     string  `yaml:"agent_id,omitempty" form:"line"`
	RootSpanID  string  `yaml:"root_span_id,omitempty" form:"line"`
	TurnSpanID  string  `yaml:"turn_span_id,omitempty" form:"line"` // the last of the front matter

	Goal string `yaml:"goal" form:"line"`
	Now  string `yaml:"now" form:"line"` // what stands next

	Done      []Task    `yaml:"done_this_session,omitempty"`
	Next      []string  `yaml:"next,omitempty"`
	Blockers  []string  `yaml:"blockers,omitempty"`
	Questions []string  `yaml:"questions,omitempty"`
	Decisions Decisions `yaml:"decisions,omitempty"` // written as a mapping, which every reader takes, unless that would lose something
	Findings  Notes     `yaml:"findings,omitempty"`
	Worked    []string  `yaml:"worked,omitempty"`
	Failed    []string  `yaml:"failed,omitempty"`
	Git       *Git      `yaml:"git,omitempty"` // written when it has branch and commit
	Files     *Files    `yaml:"files,omitempty"`
	Test      string    `yaml:"test,omitempty"`

	RelatedBeads       []string   `yaml:"related_beads,omitempty"`
	FilesToReview      []FileRef  `yaml:"files_to_review,omitempty"`
	ContinuationPrompt string     `yaml:"continuation_prompt,omitempty"`
	FinalSolutions     []Solution `yaml:"final_solutions,omitempty"`
	FinalDecisions     []Decision `yaml:"final_decisions,omitempty"`
	ArtifactsProduced  []FileRef  `yaml:"artifacts_produced,omitempty"`

	Metadata map[string]any `yaml:"metadata,omitempty"`
	Extra    map[string]any `yaml:",inline"`
}

// Task is something that was done in a session.
type Task struct {
	Task  string         `yaml:"task" form:"self"`
	Files []string       `yaml:"files"`
	Extra map[string]any `yaml:",inline"`
}

// Decision is a decision with its reason.
type Decision struct {
	Decision     string         `yaml:"decision" form:"self"`
	Rationale    string         `yaml:"rationale,omitempty"`
	Alternatives []string       `yaml:"alternatives_considered,omitempty"`
	WhyThis      string         `yaml:"why_this,omitempty"`
	Extra        map[string]any `yaml:",inline"`
}

// Decisions are those of a session.
type Decisions []Decision

// Note is a text under a name of its own.
type Note struct{ Key, Text string }

// Notes are several of them.
type Notes []Note

// Git is the state of the repository.
type Git struct {
	Branch  string         `yaml:"branch,omitempty" form:"line,self"`
	Commit  string         `yaml:"commit,omitempty" form:"line"`
	Remote  string         `yaml:"remote,omitempty" form:"line"`
	PRReady string         `yaml:"pr_ready,omitempty" form:"line"` // URL of a pull request
	Extra   map[string]any `yaml:",inline"`
}

// Files are the files that a session changed.
type Files struct {
	Created  []string       `yaml:"created,omitempty"`
	Modified []string       `yaml:"modified,omitempty" form:"self"`
	Deleted  []string       `yaml:"deleted,omitempty"`
	Extra    map[string]any `yaml:",inline"`
}

// FileRef is a file, and why it matters.
type FileRef struct {
	Path  string         `yaml:"path" form:"self"`
	Note  string         `yaml:"note,omitempty"`
	Extra map[string]any `yaml:",inline"`
}

// Solution is a problem that was solved.
type Solution struct {
	Problem   string         `yaml:"problem"`
	Solution  string         `yaml:"solution" form:"self"`
	Rationale string         `yaml:"rationale"`
	Extra     map[string]any `yaml:",inline"`
}

// Origin is when an artifact is made, in which session, and about what.
type Origin struct {
	Date        time.Time
	Session     string // is made fit for the name of a folder
	PrimaryBead string
	SessionID   string
	AgentID     string
}

// New makes an artifact. Its goal and what stands next become one line each. The caller sets the other fields;
// [Validator.Encode] checks them.
func New(mode Mode, goal, now string, outcome Outcome, o Origin) *Artifact {
	return &Artifact{
		Version: SchemaVersion, Mode: mode, Date: Stamp(o.Date), Session: Slug(o.Session), Outcome: outcome,
		PrimaryBead: o.PrimaryBead, SessionID: o.SessionID, AgentID: o.AgentID, Goal: oneLine(goal), Now: oneLine(now),
	}
}

// IsHandoff reports whether the artifact is a handoff.
func (a *Artifact) IsHandoff() bool { return a.Mode == Handoff }

// At is when the artifact was made; a date without a time is its midnight in UTC. ok is false when its date is none.
func (a *Artifact) At() (at time.Time, ok bool) {
	at, err := parseDate(a.Date)
	return at, err == nil
}

// Stamp returns a time as artifacts have it: in UTC, to the millisecond.
func Stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// parseDate reads a date, or a date and time with its zone, also with a space in place of T.
func parseDate(text string) (time.Time, error) {
	if at, err := time.Parse(time.DateOnly, text); err == nil {
		return at, nil
	}
	return durable.ParseTime(text)
}
