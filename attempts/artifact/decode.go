package artifact

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"relay/internal/plaintext"
)

// fields gives out the values of a Map, and remembers which of them nobody asked for.
type fields struct {
	m    Map
	used map[string]bool
}

// fieldsOf takes a value apart. What is no mapping has no fields.
func fieldsOf(v any) *fields {
	m, _ := v.(Map)
	return &fields{m, make(map[string]bool)}
}

func (f *fields) get(key string) any {
	f.used[key] = true
	v, _ := f.m.Get(key)
	return v
}

func (f *fields) text(key string) string     { return textOf(f.get(key)) }
func (f *fields) texts(key string) []string  { return listOf(f.get(key), textOf) }
func (f *fields) line(key string) string     { return oneLine(f.text(key)) }
func (f *fields) mapping(key string) (m Map) { m, _ = f.get(key).(Map); return m }

// rest returns the fields that nobody asked for.
func (f *fields) rest() (rest Map) {
	for _, field := range f.m {
		if !f.used[field.Key] {
			rest = append(rest, field)
		}
	}
	return rest
}

// textOf returns a value as text, whatever it is. A mapping in a list is most often a text with a colon that nobody has quoted.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return v.String()
	case []any:
		return strings.Join(listOf(v, textOf), "; ")
	case Map:
		parts := make([]string, 0, len(v))
		for _, f := range v {
			parts = append(parts, f.Key+": "+textOf(f.Value))
		}
		return strings.Join(parts, "; ")
	}
	return fmt.Sprint(v)
}

// listOf makes a list of a value: one that is no list is its only item.
func listOf[T any](v any, item func(any) T) (list []T) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, i := range v {
			list = append(list, item(i))
		}
	default:
		list = append(list, item(v))
	}
	return list
}

// fromMap makes an artifact of the keys of a file. Values of another type than the format's are taken for what they most likely mean.
func fromMap(m Map) *Artifact {
	f := fieldsOf(m)
	a := &Artifact{
		Version: f.line("schema_version"), Mode: Mode(f.line("mode")), Date: f.line("date"),
		Session: f.line("session"), Outcome: Outcome(f.line("outcome")),
		PrimaryBead: f.line("primary_bead"), SessionID: f.line("session_id"), AgentID: f.line("agent_id"),
		RootSpanID: f.line("root_span_id"), TurnSpanID: f.line("turn_span_id"),
		Goal: f.line("goal"), Now: f.line("now"), Done: listOf(f.get("done_this_session"), taskOf),
		Next: f.texts("next"), Blockers: f.texts("blockers"), Questions: f.texts("questions"),
		Decisions: decisionsOf(f.get("decisions")), Findings: notesOf(f.get("findings")), Worked: f.texts("worked"), Failed: f.texts("failed"),
		Git: gitOf(f.get("git")), Files: filesOf(f.get("files")), Test: f.text("test"),
		RelatedBeads: f.texts("related_beads"), FilesToReview: listOf(f.get("files_to_review"), fileOf),
		ContinuationPrompt: f.text("continuation_prompt"), FinalSolutions: listOf(f.get("final_solutions"), solutionOf),
		FinalDecisions: decisionsOf(f.get("final_decisions")), ArtifactsProduced: listOf(f.get("artifacts_produced"), fileOf),
		Metadata: f.mapping("metadata"),
	}
	if v, there := m.Get("metadata"); there && a.Metadata == nil && v != nil {
		a.Metadata = Map{{"value", v}}
	}
	if a.Mode == "" { // the older layout
		a.Mode = Mode(f.line("event_type"))
	}
	if o, ok := ParseOutcome(string(a.Outcome)); ok {
		a.Outcome = o
	}
	a.Extra = f.rest()
	return a
}

func taskOf(v any) Task {
	if _, ok := v.(Map); !ok {
		return Task{Task: textOf(v)}
	}
	f := fieldsOf(v)
	return Task{Task: f.text("task"), Files: f.texts("files"), Extra: f.rest()}
}

func fileOf(v any) FileRef {
	if _, ok := v.(Map); !ok {
		return FileRef{Path: textOf(v)}
	}
	f := fieldsOf(v)
	return FileRef{Path: f.text("path"), Note: f.text("note"), Extra: f.rest()}
}

func solutionOf(v any) Solution {
	if _, ok := v.(Map); !ok {
		return Solution{Solution: textOf(v)}
	}
	f := fieldsOf(v)
	return Solution{Problem: f.text("problem"), Solution: f.text("solution"), Rationale: f.text("rationale"), Extra: f.rest()}
}

// decisionsOf reads decisions in both their forms: a mapping of texts, and a list.
func decisionsOf(v any) (list []Decision) {
	if m, ok := v.(Map); ok {
		for _, f := range m {
			list = append(list, Decision{Decision: f.Key, Rationale: textOf(f.Value)})
		}
		return list
	}
	return listOf(v, func(v any) Decision {
		if _, ok := v.(Map); !ok {
			return Decision{Decision: textOf(v)}
		}
		f := fieldsOf(v)
		if _, full := f.m.Get("decision"); !full {
			return Decision{Decision: textOf(v)}
		}
		return Decision{
			Decision: f.text("decision"), Rationale: f.text("rationale"),
			Alternatives: f.texts("alternatives_considered"), WhyThis: f.text("why_this"), Extra: f.rest(),
		}
	})
}

// notesOf reads texts with names. Those of a list are named by their numbers.
func notesOf(v any) (notes []Note) {
	if m, ok := v.(Map); ok {
		for _, f := range m {
			notes = append(notes, Note{f.Key, textOf(f.Value)})
		}
		return notes
	}
	for i, text := range listOf(v, textOf) {
		notes = append(notes, Note{strconv.Itoa(i + 1), text})
	}
	return notes
}

func gitOf(v any) *Git {
	if v == nil {
		return nil
	}
	f := fieldsOf(v)
	g := &Git{Branch: f.line("branch"), Commit: f.line("commit"), Remote: f.line("remote"), PRReady: f.line("pr_ready"), Extra: f.rest()}
	if _, ok := v.(Map); !ok {
		g.Branch = oneLine(textOf(v))
	}
	return g
}

// filesOf reads changed files. Of a mere list nobody knows more than that they were changed.
func filesOf(v any) *Files {
	if v == nil {
		return nil
	}
	if _, ok := v.(Map); !ok {
		return &Files{Modified: listOf(v, textOf)}
	}
	f := fieldsOf(v)
	return &Files{Created: f.texts("created"), Modified: f.texts("modified"), Deleted: f.texts("deleted"), Extra: f.rest()}
}

// known reports whether text looks like an artifact at all.
func known(m Map) bool {
	for _, key := range []string{"mode", "event_type", "goal", "now"} {
		if v, ok := m.Get(key); ok && plaintext.Line(textOf(v)) != "" {
			return true
		}
	}
	return false
}
