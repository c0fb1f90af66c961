// Package ledgersync reads and writes the ledger of LedgerSync (npm metacog-ledgersync): a file of JSON lines in which agents and
// people record what they did, why, and what the next one has to know.
//
// Everything about that format belongs here: the entry and its five types, the JSON Schema, the lenient reader, the strict
// writer, validation. The records that relay itself writes do not.
package ledgersync

import (
	"cmp"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"relay/attempts/internal/durable"
)

// Where the ledger and its configuration are, below the top folder of a checkout.
const (
	Folder     = ".ledgersync"
	LedgerFile = "ledger.jsonl"
	ConfigFile = "config.yaml"
)

// Type says what kind of work an entry records. The zero value is an entry without a type, which is valid.
type Type string

// The types of entries.
const (
	Handoff        Type = "handoff"        // an agent ends, and another one will go on
	Transition     Type = "transition"     // an agent begins with what another one left
	Implementation Type = "implementation" // something was built
	Bugfix         Type = "bugfix"         // a fault was mended
	Review         Type = "review"         // code was judged, and not changed
)

// FoundBy and PutOffBy begin what a run of relay defers because an agent, or a reviewer of a task, has found and left it.
const (
	FoundBy  = "found by "
	PutOffBy = "put off by the review of "
)

// Types lists the types of entries.
func Types() []Type { return []Type{Handoff, Transition, Implementation, Bugfix, Review} }

// Action is the action.type that an entry of this type has.
func (t Type) Action() string {
	return cmp.Or(map[Type]string{Transition: "analyze", Review: "analyze", Implementation: "modify", Bugfix: "debug"}[t], "other")
}

// Entry is one line of a ledger. Of the five payloads at most the one of its type is there.
type Entry struct {
	ID        string  `json:"id"`        // a UUID
	Timestamp string  `json:"timestamp"` // RFC 3339, with its zone
	Agent     Agent   `json:"agent"`
	Session   Session `json:"session"`
	Type      Type    `json:"entryType,omitempty"`
	Action    Action  `json:"action"`

	Reasoning Reasoning  `json:"reasoning"`
	Tools     []Tool     `json:"tools"`
	Artifacts []Artifact `json:"artifacts"`

	SessionSummary *SessionSummary        `json:"sessionSummary,omitempty"`
	Transition     *TransitionDetails     `json:"transition,omitempty"`
	Implementation *ImplementationDetails `json:"implementation,omitempty"`
	Bugfix         *BugfixDetails         `json:"bugfix,omitempty"`
	Review         *ReviewDetails         `json:"review,omitempty"`

	UserPrompt     string     `json:"userPrompt,omitempty"`
	Tags           []string   `json:"tags,omitempty"`
	RelatedEntries []string   `json:"relatedEntries,omitempty"` // ids
	Grounding      *Grounding `json:"grounding,omitempty"`
}

// Agent is who wrote the entry.
type Agent struct {
	Name    string `json:"name"`
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"`
}

// Session is the sitting in which an entry was written; Index counts its entries from 0.
type Session struct {
	ID     string `json:"id"`
	Index  int    `json:"entryIndex"`
	Parent string `json:"parentEntryId,omitempty"` // the entry before
}

// Action is what was done. The summary has at most SummaryLength characters; see [Entry.SetSummary].
type Action struct {
	Type        string `json:"type"`
	Summary     string `json:"summary"`
	Description string `json:"description,omitempty"`
}

// Reasoning is why it was done.
type Reasoning struct {
	Intent         string   `json:"intent"`
	Considerations []string `json:"considerations,omitempty"`
	Assumptions    []string `json:"assumptions,omitempty"`
	Uncertainties  []string `json:"uncertainties,omitempty"`
	Confidence     *float64 `json:"confidence,omitempty"` // 0 to 1
}

// Tool is a tool that the agent used.
type Tool struct {
	Name       string         `json:"name"`
	Parameters map[string]any `json:"parameters,omitempty"`
}

// Actions on a file.
const (
	Created  = "created"
	Modified = "modified"
	Deleted  = "deleted"
	Read     = "read"
)

// Artifact is a file that the agent changed or read.
type Artifact struct {
	Path         string `json:"path"`
	Action       string `json:"action"`
	LinesChanged *int   `json:"linesChanged,omitempty"`
	Summary      string `json:"summary,omitempty"`
}

// Grounding names the principles of the project that the work follows.
type Grounding struct {
	PhilosophyRefs     []string `json:"philosophyRefs,omitempty"`
	ConstraintsApplied []string `json:"constraintsApplied,omitempty"`
	AlignmentNotes     string   `json:"alignmentNotes,omitempty"`
}

// SessionSummary is the payload of a handoff.
type SessionSummary struct {
	Completed        []string          `json:"completed"`
	CurrentState     map[string]string `json:"currentState"`
	Deferred         []string          `json:"deferred"`
	Blockers         []string          `json:"blockers"`
	ImportantContext map[string]string `json:"importantContext"`
	HandoffNotes     string            `json:"handoffNotes,omitempty"`
}

// TransitionDetails is the payload of a transition.
type TransitionDetails struct {
	FromAgent       string          `json:"fromAgent"`
	FromSessionID   string          `json:"fromSessionId"`
	FromEntryID     string          `json:"fromEntryId"` // of the handoff it answers
	ContextAcquired ContextAcquired `json:"contextAcquired"`
	InheritedState  InheritedState  `json:"inheritedState"`
	Readiness       Readiness       `json:"readiness"`
}

// ContextAcquired is what an agent that begins has read.
type ContextAcquired struct {
	EntriesRead        int      `json:"entriesRead"`
	PhilosophyDocsRead []string `json:"philosophyDocsRead"`
	FilesIndexed       []string `json:"filesIndexed"`
}

// InheritedState is what an agent that begins takes over.
type InheritedState struct {
	Completed []string `json:"completed"`
	Deferred  []string `json:"deferred"`
	Blockers  []string `json:"blockers"`
}

// Readiness is whether an agent that begins can go on, and with what.
type Readiness struct {
	Confident            bool     `json:"confident"`
	ClarificationsNeeded []string `json:"clarificationsNeeded"`
	ProposedNextSteps    []string `json:"proposedNextSteps"`
}

// ImplementationDetails is the payload of an implementation.
type ImplementationDetails struct {
	Feature         string   `json:"feature"`
	DesignDecisions []string `json:"designDecisions"`
	TestsAdded      []string `json:"testsAdded"` // files
	DocsUpdated     []string `json:"docsUpdated"`
	BreakingChanges []string `json:"breakingChanges"`
}

// BugfixDetails is the payload of a bugfix.
type BugfixDetails struct {
	Symptom           string   `json:"symptom"`
	RootCause         string   `json:"rootCause"`
	Fix               string   `json:"fix"`
	RegressionRisk    string   `json:"regressionRisk"`
	VerificationSteps []string `json:"verificationSteps"`
}

// ReviewDetails is the payload of a review.
type ReviewDetails struct {
	Scope             []string  `json:"scope"` // files or areas
	Findings          []Finding `json:"findings"`
	OverallAssessment string    `json:"overallAssessment"`
}

// Finding is one finding of a review. Severity is critical, high, medium, low or info.
type Finding struct {
	Severity       string `json:"severity"`
	Location       string `json:"location"`
	Issue          string `json:"issue"`
	Recommendation string `json:"recommendation"`
}

// SummaryLength is how many characters the summary of an entry may have at most.
const SummaryLength = 200

// SetSummary sets what was done. A text that is too long for the summary is cut there between words; all of it is put before the
// description then.
func (e *Entry) SetSummary(text string) {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= SummaryLength {
		e.Action.Summary = text
		return
	}
	const more = " …"
	cut := []rune(text)[:SummaryLength-utf8.RuneCountInString(more)]
	short := string(cut)
	if at := strings.LastIndexByte(short, ' '); at > len(short)/2 {
		short = short[:at]
	}
	e.Action.Summary = short + more
	e.Action.Description = strings.TrimSpace(text + "\n\n" + e.Action.Description)
}

// Answer makes the entry the one that answers a handoff.
func (e *Entry) Answer(from *Entry, acquired ContextAcquired, r Readiness) {
	s := from.SessionSummary
	e.RelatedEntries = []string{from.ID}
	e.Transition = &TransitionDetails{
		FromAgent: from.Agent.Name, FromSessionID: from.Session.ID, FromEntryID: from.ID, ContextAcquired: acquired, Readiness: r,
		InheritedState: InheritedState{Completed: s.Completed, Deferred: s.Deferred, Blockers: s.Blockers},
	}
}

// At is when the entry was written. ok is false when its timestamp is none.
func (e *Entry) At() (at time.Time, ok bool) {
	at, err := durable.ParseTime(e.Timestamp)
	return at, err == nil
}

// Stamp returns a time as entries have it: in UTC, to the millisecond.
func Stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// normalize makes lists and maps that the format requires empty rather than null, in a struct and those below it.
func normalize(at reflect.Value) {
	switch kind := at.Kind(); {
	case kind == reflect.Struct:
		for about, field := range at.Fields() {
			if field.Kind() == reflect.Pointer || !strings.HasSuffix(about.Tag.Get("json"), ",omitempty") {
				normalize(field)
			}
		}
	case kind == reflect.Pointer && !at.IsNil():
		normalize(at.Elem())
	case kind == reflect.Slice && at.IsNil():
		at.Set(reflect.MakeSlice(at.Type(), 0, 0))
	case kind == reflect.Map && at.IsNil():
		at.Set(reflect.MakeMap(at.Type()))
	}
}

// LeftBehind is a handoff in the ledger of LedgerSync, as far as the entry that answers it repeats it.
type LeftBehind struct {
	ID        string   `json:"id"` // of the entry
	Agent     string   `json:"agent,omitempty"`
	Session   string   `json:"session,omitempty"`
	Completed []string `json:"completed,omitempty"`
	Deferred  []string `json:"deferred,omitempty"`
	Blockers  []string `json:"blockers,omitempty"`
}
