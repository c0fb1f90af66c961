// Package artifact reads and writes the unified artifacts of Continuous Claude: YAML files below thoughts/shared/handoffs in which
// a session says what its goal was, where it stands, and what the next one has to know.
//
// Everything about that format belongs here: the artifact and its three modes, the JSON Schema, the lenient reader, the strict
// writer, validation, and the import of older files. What relay writes when, and from which facts, does not.
package artifact

import (
	"cmp"
	"slices"
	"strings"
	"time"
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

// Artifact is one file, with its keys in their order. Fields that are empty are not written, but for those that are required. Extra, here
// and below, holds keys that the format does not know: they are kept when a file is read and written again.
//
// The tag of a field has its key, and how it is read and written: as a text on one line (line), also when it is empty (required), or as
// what a text in the place of the mapping stands for (self).
type Artifact struct {
	Version     string  `key:"schema_version,line"`
	Mode        Mode    `key:"mode,line"`
	Date        string  `key:"date,line"`    // ISO 8601, a date or a date and time with its zone
	Session     string  `key:"session,line"` // also the name of its folder
	Outcome     Outcome `key:"outcome,line"`
	PrimaryBead string  `key:"primary_bead,line"` // what the work is about; handoff and finalize need it
	SessionID   string  `key:"session_id,line"`
	AgentID     string  `key:"agent_id,line"`
	RootSpanID  string  `key:"root_span_id,line"`
	TurnSpanID  string  `key:"turn_span_id,line"` // the last of the front matter

	Goal string `key:"goal,line"`
	Now  string `key:"now,line"` // what stands next

	Done      []Task     `key:"done_this_session"`
	Next      []string   `key:"next"`
	Blockers  []string   `key:"blockers"`
	Questions []string   `key:"questions"`
	Decisions []Decision `key:"decisions,short"` // written as a mapping, which every reader takes, unless that would lose something
	Findings  []Note     `key:"findings"`
	Worked    []string   `key:"worked"`
	Failed    []string   `key:"failed"`
	Git       *Git       `key:"git"` // written when it has branch and commit
	Files     *Files     `key:"files"`
	Test      string     `key:"test"`

	RelatedBeads       []string   `key:"related_beads"`
	FilesToReview      []FileRef  `key:"files_to_review"`
	ContinuationPrompt string     `key:"continuation_prompt"`
	FinalSolutions     []Solution `key:"final_solutions"`
	FinalDecisions     []Decision `key:"final_decisions"`
	ArtifactsProduced  []FileRef  `key:"artifacts_produced"`

	Metadata Map `key:"metadata"`
	Extra    Map
}

const frontFields = 10

// Task is something that was done in a session.
type Task struct {
	Task  string   `key:"task,required,self"`
	Files []string `key:"files,required"`
	Extra Map
}

// Decision is a decision with its reason.
type Decision struct {
	Decision     string   `key:"decision,required,self"`
	Rationale    string   `key:"rationale"`
	Alternatives []string `key:"alternatives_considered"`
	WhyThis      string   `key:"why_this"`
	Extra        Map
}

// Note is a text under a name of its own.
type Note struct{ Key, Text string }

// Git is the state of the repository.
type Git struct {
	Branch  string `key:"branch,line,self"`
	Commit  string `key:"commit,line"`
	Remote  string `key:"remote,line"`
	PRReady string `key:"pr_ready,line"` // URL of a pull request
	Extra   Map
}

// Files are the files that a session changed.
type Files struct {
	Created  []string `key:"created"`
	Modified []string `key:"modified,self"`
	Deleted  []string `key:"deleted"`
	Extra    Map
}

// FileRef is a file, and why it matters.
type FileRef struct {
	Path  string `key:"path,required,self"`
	Note  string `key:"note"`
	Extra Map
}

// Solution is a problem that was solved.
type Solution struct {
	Problem   string `key:"problem,required"`
	Solution  string `key:"solution,required,self"`
	Rationale string `key:"rationale,required"`
	Extra     Map
}

// Origin is when an artifact is made, in which session, and about what.
type Origin struct {
	Date        time.Time
	Session     string // is made fit for the name of a folder
	PrimaryBead string
	SessionID   string
	AgentID     string
}

// New makes an artifact. Its goal and what stands next become one line each. What else it says is set afterwards; [Validate] checks it.
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
	return parseTime(text)
}

func parseTime(text string) (time.Time, error) {
	normal := strings.ToUpper(text)
	if len(normal) > 10 && normal[10] == ' ' {
		normal = normal[:10] + "T" + normal[11:]
	}
	return time.Parse(time.RFC3339Nano, normal)
}
