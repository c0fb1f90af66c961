package reanchor

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// RecordSource is a handoff: an entry of the ledger or an artifact.
type RecordSource struct {
	Entry    *ledgersync.Entry
	Artifact *artifact.Artifact
}

const (
	mostItems     = 20       // of a list of a handoff
	mostText      = 64 << 10 // of a handoff, before secrets are taken out
	mostArtifacts = 50       // files looked at for a handoff
)

func (s *RecordSource) handoff(now time.Time) Handoff {
	var b, context strings.Builder
	if a := s.Artifact; a != nil {
		writeArtifact(&b, a)
		for _, f := range a.Findings {
			recordField(&context, f.Key, f.Text)
		}
		return Handoff{By: a.AgentID, Age: age(now, a), Text: bounded(b.String()), Context: bounded(context.String())}
	}
	e, left := s.Entry, s.Entry.SessionSummary
	recordField(&b, "Summary", e.Action.Summary)
	recordField(&b, "Why", e.Reasoning.Intent)
	list(&b, "Completed", left.Completed)
	state := left.CurrentState
	list(&b, "State", each.Of(slices.Sorted(maps.Keys(state)), func(key string) string { return key + ": " + state[key] }))
	list(&b, "Deferred", left.Deferred)
	list(&b, "Blockers", left.Blockers)
	recordField(&b, "Notes", left.HandoffNotes)
	for _, name := range slices.Sorted(maps.Keys(left.ImportantContext)) {
		recordField(&context, name, left.ImportantContext[name])
	}
	return Handoff{ID: e.ID, By: e.Agent.Name, Age: age(now, e), Text: bounded(b.String()), Context: bounded(context.String())}
}

// ofRun reports whether a run of relay on an epic has left the handoff.
func (s *RecordSource) ofRun(epic string) bool {
	if a := s.Artifact; a != nil {
		return epic != "" && a.Session == artifact.Slug(epic) && a.Metadata["relay"] != nil
	}
	return epic != "" && byRelay(s.Entry) && slices.Contains(s.Entry.Tags, epic)
}

// lasting returns what of a run's handoff an agent of a later attempt has to know that its brief does not say elsewhere: the state of that
// run is over, and receipts and learnings tell of the task and of those that it builds on.
func (s *RecordSource) lasting(in *Input) Handoff {
	told := []string{in.Task.ID, "base", "head"}
	told = append(told, each.Of(in.Dependencies, func(d Dependency) string { return d.ID })...)
	left := &ledgersync.SessionSummary{}
	if a := s.Artifact; a == nil {
		left = s.Entry.SessionSummary
	} else {
		left.Completed = each.Of(a.Done, func(t artifact.Task) string { return t.Task })
		left.Deferred = each.Of(a.Findings, func(f artifact.Note) string { return f.Text })
	}
	var b, context strings.Builder
	list(&b, "Completed", left.Completed)
	list(&b, "Found, and left", slices.DeleteFunc(slices.Clone(left.Deferred), func(text string) bool {
		return !strings.HasPrefix(text, ledgersync.FoundBy) && !strings.HasPrefix(text, ledgersync.PutOffBy)
	}))
	for _, name := range slices.Sorted(maps.Keys(left.ImportantContext)) {
		if id, of, _ := strings.Cut(name, " "); !slices.Contains(told, id) && of != "learned" {
			recordField(&context, name, left.ImportantContext[name])
		}
	}
	h := in.Handoff
	if h.Text, h.Context = bounded(b.String()), bounded(context.String()); h.Text+h.Context == "" {
		return Handoff{}
	}
	return h
}

func writeArtifact(b *strings.Builder, a *artifact.Artifact) {
	recordField(b, "Goal", a.Goal)
	recordField(b, "Now", a.Now)
	recordField(b, "Outcome", string(a.Outcome))
	decided := each.Of(a.Decisions, func(d artifact.Decision) string { return strings.TrimSuffix(d.Decision+": "+d.Rationale, ": ") })
	list(b, "Done", each.Of(a.Done, func(t artifact.Task) string { return t.Task }))
	list(b, "Next", a.Next)
	list(b, "Blockers", a.Blockers)
	list(b, "Decided", decided)
	list(b, "Did not work", a.Failed)
	for _, f := range a.FilesToReview[:min(len(a.FilesToReview), mostItems)] {
		recordField(b, "To review", strings.TrimSuffix(f.Path+": "+f.Note, ": "))
	}
	recordField(b, "To go on", a.ContinuationPrompt)
}

func (s *RecordSource) questions(now time.Time) []Thread {
	if a := s.Artifact; a != nil {
		return threads(a.Questions, a.AgentID, age(now, a))
	}
	return threads(s.Entry.Reasoning.Uncertainties, s.Entry.Agent.Name, age(now, s.Entry))
}

func threads(questions []string, by, age string) []Thread {
	return each.Of(questions[:min(len(questions), mostItems)], func(q string) Thread { return Thread{By: by, Age: age, Question: bounded(q)} })
}

// entryOf returns what a brief quotes of an entry that names files of a task.
func entryOf(e *ledgersync.Entry, now time.Time) Entry {
	out := Entry{ID: e.ID, By: e.Agent.Name, Age: age(now, e)}
	shown := e.Artifacts[:min(len(e.Artifacts), mostItems)]
	out.Files = each.Of(shown, func(a ledgersync.Artifact) string { return strings.TrimSpace(a.Action + " " + a.Path) })
	said := e.Action.Summary
	if why := e.Reasoning.Intent; why != "" && why != said {
		said += "\nWhy: " + why
	}
	out.Text = bounded(said)
	return out
}

func recordField(b *strings.Builder, name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		fmt.Fprintf(b, "%s: %s\n", plaintext.Line(name), text)
	}
}

func list(b *strings.Builder, name string, items []string) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n", name)
	for _, item := range items[:min(len(items), mostItems)] {
		fmt.Fprintf(b, "- %s\n", item)
	}
	if more := len(items) - mostItems; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}

func bounded(s string) string { return plaintext.Head(s, mostText) }

// newestHandoff returns the newest handoff of a session; "*": of any. Names of files begin with their time.
func newestHandoff(top, session string) *RecordSource {
	dir := filepath.Join(top, filepath.FromSlash(artifact.Folder))
	files, _ := fs.Glob(os.DirFS(dir), session+"/*.y*ml") // the pattern is right
	slices.SortFunc(files, func(a, b string) int { return cmp.Compare(path.Base(b), path.Base(a)) })
	for _, name := range files[:min(len(files), mostArtifacts)] {
		if a, _, err := artifact.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err == nil && a.IsHandoff() {
			return &RecordSource{Artifact: a}
		}
	}
	return nil
}
