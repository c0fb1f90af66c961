package artifact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"relay/internal/lazyregexp"
	"relay/internal/plaintext"
)

var versionOf = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// builder collects the fields of a mapping. What is empty is left out.
type builder struct{ m Map }

func (b *builder) add(key string, v any) { b.m = append(b.m, Field{key, v}) }

func (b *builder) text(key, v string) {
	if v = plaintext.Clean(v); v != "" {
		b.add(key, v)
	}
}

func (b *builder) line(key, v string) { b.text(key, oneLine(v)) }

func (b *builder) texts(key string, list []string) {
	if len(list) > 0 {
		b.add(key, list)
	}
}

func (b *builder) maps(key string, list []any) {
	if len(list) > 0 {
		b.add(key, list)
	}
}

// with returns the mapping and the keys that the format does not know.
func (b *builder) with(extra Map) Map {
	taken := make(map[string]bool, len(b.m))
	for _, f := range b.m {
		taken[f.Key] = true
	}
	return append(b.m, cleanMap(extra, taken)...)
}

// front is what stands in the front matter, in this order.
func (a *Artifact) front() Map {
	var b builder
	version := a.Version
	if !versionOf.MatchString(version) {
		version = SchemaVersion
	}
	b.text("schema_version", version)
	b.line("mode", string(a.Mode))
	b.line("date", a.Date)
	b.line("session", a.Session)
	b.line("outcome", string(a.Outcome))
	b.line("primary_bead", a.PrimaryBead)
	b.line("session_id", a.SessionID)
	b.line("agent_id", a.AgentID)
	b.line("root_span_id", a.RootSpanID)
	b.line("turn_span_id", a.TurnSpanID)
	return b.m
}

// body is what stands below the front matter, in this order, but for goal and now.
func (a *Artifact) body() Map {
	var b builder
	b.maps("done_this_session", mapsOf(a.Done, func(t Task, b *builder) Map {
		b.add("task", t.Task)
		b.add("files", t.Files)
		return t.Extra
	}))
	b.texts("next", a.Next)
	b.texts("blockers", a.Blockers)
	b.texts("questions", a.Questions)
	b.decisions(a.Decisions)
	b.notes("findings", a.Findings)
	b.texts("worked", a.Worked)
	b.texts("failed", a.Failed)
	b.git(a.Git)
	b.files(a.Files)
	b.text("test", a.Test)
	b.texts("related_beads", a.RelatedBeads)
	b.fileRefs("files_to_review", a.FilesToReview)
	b.text("continuation_prompt", a.ContinuationPrompt)
	b.maps("final_solutions", mapsOf(a.FinalSolutions, func(s Solution, b *builder) Map {
		b.add("problem", s.Problem)
		b.add("solution", s.Solution)
		b.add("rationale", s.Rationale)
		return s.Extra
	}))
	b.maps("final_decisions", decisionList(a.FinalDecisions))
	b.fileRefs("artifacts_produced", a.ArtifactsProduced)
	if len(a.Metadata) > 0 {
		b.add("metadata", a.Metadata)
	}
	return b.m
}

// mapsOf makes a mapping of each item. add adds what the format knows, and returns what it does not know.
func mapsOf[T any](items []T, add func(item T, b *builder) (extra Map)) (list []any) {
	for _, item := range items {
		var b builder
		extra := add(item, &b)
		list = append(list, b.with(extra))
	}
	return list
}

// decisions writes a mapping, which every reader takes, unless that would lose something.
func (b *builder) decisions(list []Decision) {
	if slices.ContainsFunc(list, func(d Decision) bool { return len(d.Alternatives) > 0 || d.WhyThis != "" || len(d.Extra) > 0 }) {
		b.maps("decisions", decisionList(list))
		return
	}
	notes := make([]Note, 0, len(list))
	for _, d := range list {
		notes = append(notes, Note{d.Decision, d.Rationale})
	}
	b.notes("decisions", notes)
}

func decisionList(list []Decision) []any {
	return mapsOf(list, func(d Decision, b *builder) Map {
		b.add("decision", d.Decision)
		b.text("rationale", d.Rationale)
		b.texts("alternatives_considered", d.Alternatives)
		b.text("why_this", d.WhyThis)
		return d.Extra
	})
}

func (b *builder) notes(key string, notes []Note) {
	var m Map
	for _, n := range notes {
		m = append(m, Field{n.Key, n.Text})
	}
	if len(m) > 0 {
		b.add(key, m)
	}
}

func (b *builder) git(g *Git) {
	if g == nil || oneLine(g.Branch) == "" || oneLine(g.Commit) == "" {
		return
	}
	var in builder
	in.line("branch", g.Branch)
	in.line("commit", g.Commit)
	in.line("remote", g.Remote)
	in.line("pr_ready", g.PRReady)
	b.add("git", in.with(g.Extra))
}

func (b *builder) files(f *Files) {
	if f == nil {
		return
	}
	var in builder
	in.texts("created", f.Created)
	in.texts("modified", f.Modified)
	in.texts("deleted", f.Deleted)
	if m := in.with(f.Extra); len(m) > 0 {
		b.add("files", m)
	}
}

func (b *builder) fileRefs(key string, list []FileRef) {
	b.maps(key, mapsOf(list, func(f FileRef, b *builder) Map {
		b.add("path", f.Path)
		b.text("note", f.Note)
		return f.Extra
	}))
}

// knownKeys are the keys of the format at the top of a file, and the one of its older layout.
func knownKeys() map[string]bool {
	keys := make(map[string]bool)
	for _, key := range append(frontKeys(), bodyKeys()...) {
		keys[key] = true
	}
	return keys
}

func frontKeys() []string {
	return []string{
		"schema_version", "mode", "date", "session", "outcome", "primary_bead", "session_id", "agent_id", "root_span_id", "turn_span_id",
	}
}

func bodyKeys() []string {
	return []string{
		"goal", "now", "done_this_session", "next", "blockers", "questions", "decisions", "findings", "worked", "failed", "git", "files", "test",
		"related_beads", "files_to_review", "continuation_prompt", "final_solutions",
		"final_decisions", "artifacts_produced", "metadata", "event_type",
	}
}

// parts are the contents of a file, ready to be written.
func (a *Artifact) parts() (front Map, goal, now string, body Map) {
	front = cleanMap(a.front(), nil)
	body = append(cleanMap(a.body(), nil), cleanMap(a.Extra, knownKeys())...)
	return front, quotable(a.Goal), quotable(a.Now), body
}

// Map returns everything that the file of an artifact says, in the order of the file.
func (a *Artifact) Map() Map {
	front, goal, now, body := a.parts()
	b := builder{front}
	b.text("goal", goal)
	b.text("now", now)
	return append(b.m, body...)
}

// Encode returns the text of an artifact's file. What drives a terminal is taken out of texts, and what is no UTF-8. An artifact that
// [Schema] refuses is an error.
func (v *Validator) Encode(a *Artifact) ([]byte, error) {
	if problems := v.Check(plain(a.Map())); len(problems) > 0 {
		return nil, fmt.Errorf("the artifact is invalid: %s", strings.Join(problems, "; "))
	}
	front, goal, now, body := a.parts()
	var b bytes.Buffer
	b.WriteString("---\n")
	if err := writeMap(&b, front, "mode", "outcome"); err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "---\n\ngoal: %s\nnow: %s\n", quoted(goal), quoted(now))
	if err := writeMap(&b, body); err != nil {
		return nil, err
	}
	if b.Len() > MaxSize {
		return nil, fmt.Errorf("the artifact has %d bytes, and may have %d", b.Len(), MaxSize)
	}
	return b.Bytes(), nil
}
