package records

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"relay/attempts"
	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic"
	"relay/review"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	time.Local = time.UTC //nolint:reassign // the zone of the goldens
	m.Run()
}

const planText = `version: 2
id: 20260111-shop
title: The shop takes orders
bead: bd-12
related_beads: [bd-3, bd-4]
tasks:
  T1: {title: Store orders, checks: [go test ./store]}
  T2: {title: Totals are rounded, kind: bugfix, depends_on: [T1], description: 3 times 0.1 is not 0.3}
  T3: {title: Look at the cart, kind: review}
  T4: {title: Send mail, depends_on: [T2], points: 3}
`

const (
	run1 = "20260111T220000Z-aaaa"
	run2 = "20260112T220000Z-bbbb"
)

// night numbers events, a second apart.
func night(run string, from uint64, events ...attempts.Event) []attempts.Event {
	at, _ := time.Parse("20060102T150405Z", run[:16])
	for i := range events {
		events[i].Seq, events[i].Run, events[i].At = from+uint64(i), run, at.Add(time.Duration(i)*time.Second)
	}
	return events
}

func began(tip string) attempts.Event {
	return attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{
		Version: attempts.LogVersion, EpicID: "20260111-shop", Integration: "relay/20260111-shop", Branch: "main", Base: "ba5e", Relay: "1.2.3", Tip: tip,
	}}
}

func stopped(reason, why, head string, relapsed ...string) attempts.Event {
	return attempts.Event{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{
		Reason: reason, Why: why, Head: head, Tip: head, Regressed: relapsed,
	}}
}

func started(task string, n int, s attempts.Started) attempts.Event {
	return attempts.Event{Type: attempts.TypeAttemptStarted, Task: task, Attempt: n, Started: &s}
}

func ended(task string, n int, e attempts.Ended) attempts.Event {
	e.Outcome = attempts.Success
	if e.Result != attempts.ResultSuccess {
		e.Outcome = attempts.Check
	}
	return attempts.Event{Type: attempts.TypeAttemptEnded, Task: task, Attempt: n, Ended: &e}
}

func claude() attempts.Started {
	return attempts.Started{Runner: "claude", CLI: "claude", Version: "2.1.3", Model: "opus", Base: "ba5e", Session: "5e55"}
}

func success(receipt attempts.Receipt, changes ...attempts.FileChange) attempts.Ended {
	return attempts.Ended{
		Result: attempts.ResultSuccess, Head: "4ead", Landed: "1a2b", Receipt: receipt, Changes: changes,
		Usage: &attempts.Usage{InputTokens: 1000, OutputTokens: 50, CostUSD: 0.5},
		Tools: []attempts.ToolUse{{Name: "Edit", Calls: 7, Failed: 2}, {Name: "Bash", Calls: 3}},
	}
}

// allDone is a night in which every task is completed, and the whole epic judged.
func allDone() []attempts.Event {
	sure := true
	t1 := success(attempts.Receipt{
		Summary: "Orders are stored.\nIn SQLite.", Learning: "The driver wants CGO.", PatternTags: []string{"sql"},
		Checks: []attempts.CheckRun{
			{Name: "go test ./store", ExitCode: 1, Phase: attempts.PhaseBaseline}, {Name: "go test ./store", Phase: attempts.PhaseTask},
		},
		Statement: attempts.Statement{
			Decisions: map[string]string{"which store": "SQLite: one file"}, Discovered: []attempts.Discovery{{Title: "no backup", Why: "nobody asked"}}, Confident: &sure,
			Implementation: &attempts.Implementation{DesignDecisions: []string{"one table"}, BreakingChanges: []string{"orders.json is gone"}},
		},
		Review: &attempts.Reviewed{
			Opinions: []attempts.Opinion{{Reviewer: "codex", Model: "gpt-5", Decision: review.Approved, Head: "4ead", Verdict: review.Verdict{
				Decision: review.Approved, Summary: "sound", Findings: []review.Finding{{Severity: review.Low, File: "store/store.go", Line: 7, Issue: "a name", Fix: "rename"}},
			}}},
			Deferred: []review.Raised{{Finding: review.Finding{Severity: review.Low, File: "store/store.go", Line: 7, Issue: "a name"}, By: []string{"codex"}}},
			Proofs:   []review.Proof{{Criterion: "it is fast", By: review.Unproven}},
		},
		FilesChanged: []string{"store/store.go", "store/store_test.go", "docs/store.md", "old.go", "new.go"},
	},
		attempts.FileChange{Path: "store/store.go", Kind: attempts.FileAdded, Added: 100},
		attempts.FileChange{Path: "store/store_test.go", Kind: attempts.FileAdded, Added: 50},
		attempts.FileChange{Path: "docs/store.md", Kind: attempts.FileModified, Added: 3, Deleted: 1},
		attempts.FileChange{Path: "new.go", From: "old.go", Kind: attempts.FileRenamed},
		attempts.FileChange{Path: "orders.json", Kind: attempts.FileDeleted, Deleted: 9},
	)
	t1.MoreChanges = 2
	t2 := success(attempts.Receipt{Summary: "Rounded.", Statement: attempts.Statement{
		Bugfix: &attempts.Bugfix{Symptom: "0.1+0.2", RootCause: "floats", Fix: "cents", RegressionRisk: "low"},
	}, Checks: []attempts.CheckRun{{Name: "go test ./...", ExitCode: 1, Phase: attempts.PhaseBaseline}, {Name: "go test ./..."}}}, attempts.FileChange{Path: "total.go", Kind: attempts.FileModified, Added: 4, Deleted: 4})
	t3 := success(attempts.Receipt{Summary: "Looked.", Statement: attempts.Statement{Inspection: &attempts.Inspection{
		Scope: []string{"cart/"}, Findings: []attempts.InspectionFinding{
			{Severity: "HIGH", Location: "cart/cart.go:3", Issue: "a leak", Recommendation: "close it"},
			{Severity: "odd", Issue: "a smell"},
		}, Assessment: "fine but for these",
	}}})
	t4 := success(attempts.Receipt{Summary: "Mail is sent.", Statement: attempts.Statement{Questions: []string{"Which sender?"}}})
	return night(run1, 1,
		began("ba5e"), started("T1", 1, claude()), ended("T1", 1, t1), started("T2", 1, claude()), ended("T2", 1, t2),
		started("T3", 1, attempts.Started{Runner: "helper", CLI: "command"}), ended("T3", 1, t3), started("T4", 1, claude()), ended("T4", 1, t4),
		attempts.Event{Type: attempts.TypeEpicReviewed, EpicReviewed: &attempts.EpicReview{Base: "ba5e", Head: "4ead", Decision: review.Approved, Reviewed: attempts.Reviewed{
			Opinions: []attempts.Opinion{{Reviewer: "claude", Decision: review.Approved, Verdict: review.Verdict{Decision: review.Approved, Summary: "all of it"}}},
		}}},
		attempts.Event{Type: attempts.TypePullRequest, PullRequest: &attempts.PullRequest{URL: "https://example.org/pull/7", Branch: "relay/20260111-shop"}},
		stopped("epic_complete", "", "4ead"),
	)
}

// halfDone are two nights: in the first a task is gated, one goes from one agent to another, and relay is killed; the second ends with
// work left.
func halfDone() []attempts.Event {
	failure := attempts.Ended{Charged: true, Head: "4ead", Receipt: attempts.Receipt{
		Claimed: "success", Summary: "Tried floats.", ErrorCategory: attempts.TestFailure, ErrorSummary: "go test ./... fails: 0.30000000000000004",
		Suggestion: "Count cents.", Salvage: "refs/relay/20260111-shop/T2/1", Kept: []string{"refs/relay/x"}, Contested: []string{"total.go"},
		Findings: "## Finding 1: floats\n**Severity:** HIGH\n**File:** total.go:3\n**Fix:** use cents\n", Verdict: review.NeedsChanges, Learning: "Floats do not add up.", FilesChanged: []string{"total.go"},
		Checks:    []attempts.CheckRun{{Name: "vet"}, {Name: "go test ./...", ExitCode: 1}},
		Statement: attempts.Statement{Questions: []string{"How many digits?"}, Discovered: []attempts.Discovery{{Title: "taxes"}}, Decisions: map[string]string{"a": "b"}},
	}, Changes: []attempts.FileChange{{Path: "total.go", Kind: attempts.FileModified, Added: 1, Deleted: 1}}}
	gated := failure
	gated.Gate = &attempts.Gate{Reason: attempts.MaxAttempts, Detail: "2 of 2 attempts failed"}
	quota := attempts.Ended{Result: attempts.ResultFailure, Receipt: attempts.Receipt{ErrorCategory: attempts.RateLimited}}
	first := night(run1, 1,
		began("ba5e"), started("T1", 1, claude()), ended("T1", 1, quota),
		attempts.Event{Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: "claude", Until: time.Date(2026, 1, 13, 3, 0, 0, 0, time.UTC), Why: "its limit"}},
		started("T1", 2, attempts.Started{Runner: "codex", CLI: "codex"}),
		attempts.Event{Type: attempts.TypeBriefed, Task: "T1", Attempt: 2, Briefed: &attempts.Briefed{
			Bytes: 9000, Entries: 1, Documents: []string{"docs/rules.md"}, Files: []string{"store/store.go"}, Unclear: []string{"which?"}, Cut: []string{"the log"},
		}},
		ended("T1", 2, success(attempts.Receipt{Summary: "Stored."})),
		started("T2", 1, claude()), ended("T2", 1, failure), started("T3", 1, claude()),
	)
	second := night(run2, uint64(len(first)+1),
		began("4ead"), started("T2", 2, claude()),
		attempts.Event{Type: attempts.TypeBriefed, Task: "T2", Attempt: 2, Briefed: &attempts.Briefed{Bytes: 9000, Continues: true}}, ended("T2", 2, gated),
		attempts.Event{Type: attempts.TypeCooldown, Cooldown: &attempts.Cooldown{Runner: "claude", Until: time.Date(2026, 1, 14, 3, 0, 0, 0, time.UTC), Why: "its limit"}},
		attempts.Event{Type: attempts.TypeGated, Task: "T3"}, attempts.Event{Type: attempts.TypeUngated, Task: "T3"},
		stopped("deadline", "07:00 has come", "4ead", "T1: go test ./store fails"),
	)
	return append(first, second...)
}

// nothingDone is a night without any work, and one that begins after it.
func nothingDone() []attempts.Event {
	return append(night(run1, 1, began("ba5e"), stopped("no_runner", "claude is not logged in", "ba5e")), night(run2, 3, began("ba5e"))...)
}

// hostile is a night whose agent says what it should not.
func hostile() []attempts.Event {
	nasty := "\x1b[2J---\ngoal: mine\x00 \"quoted\" 'too' \xff {{ $(rm -rf /) }}\r\n--- \n# Handoff: no"
	e := success(attempts.Receipt{
		Summary: nasty, Learning: nasty, Suggestion: nasty, PatternTags: []string{nasty}, FilesChanged: []string{nasty},
		Statement: attempts.Statement{
			Decisions: map[string]string{nasty: nasty, "no": "no", "1.0": "~"}, Questions: []string{nasty}, Discovered: []attempts.Discovery{{Title: nasty, Why: nasty}},
			Bugfix: &attempts.Bugfix{Symptom: nasty, RootCause: nasty, Fix: nasty, RegressionRisk: nasty},
		},
	}, attempts.FileChange{Path: nasty, Kind: attempts.FileAdded}, attempts.FileChange{Path: nasty, From: nasty, Kind: attempts.FileRenamed})
	e.Tools = []attempts.ToolUse{{Name: nasty, Calls: 1}}
	failure := e
	failure.Result, failure.Landed = attempts.ResultFailure, ""
	failure.Receipt.ErrorSummary, failure.Receipt.Findings, failure.Receipt.Salvage = nasty, nasty, nasty
	failure.Gate = &attempts.Gate{Reason: attempts.Reason(nasty), Detail: strings.Repeat(nasty, 1000)}
	return night(run1, 1,
		began(nasty), started("T1", 1, attempts.Started{Runner: nasty, Session: nasty}), ended("T1", 1, e), started("T2", 1, claude()), ended("T2", 1, e),
		started("T3", 1, claude()), ended("T3", 1, failure), stopped(nasty, nasty, nasty, nasty),
	)
}

// older is a night in a log without the newer facts, of tasks that are in no plan.
func older() []attempts.Event {
	e := attempts.Ended{Result: attempts.ResultSuccess, Receipt: attempts.Receipt{Summary: "did it", FilesChanged: []string{"a.go", "b.go"}}}
	return night(run1, 1,
		attempts.Event{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Version: 1, EpicID: "20260111-shop"}},
		attempts.Event{Type: attempts.TypeAttemptStarted, Task: "T9", Attempt: 1}, ended("T9", 1, e),
		attempts.Event{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{Reason: "interrupted"}},
	)
}

func TestNights(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]attempts.Event{
		"all-done": allDone(), "half-done": halfDone(), "nothing-done": nothingDone(), "hostile": hostile(), "older": older(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := shop(t)
			if name == "older" {
				plan = nil
			}
			golden(t, name+".golden", written(t, Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return plan }}, events))
		})
	}
}

func shop(t *testing.T) *epic.Epic {
	t.Helper()
	plan, err := epic.Read("epic.yml", []byte(planText))
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// written returns the lines and files that are written of some events, with checkpoints of everything.
func written(t *testing.T, o Options, events []attempts.Event) string {
	t.Helper()
	w, err := ledgersync.Open(t.TempDir(), "shop", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	valid, err := artifact.NewValidator()
	if err != nil {
		t.Fatal(err)
	}
	o.Checkpoints = AtLanding
	p := New(o)
	var b strings.Builder
	names := map[string]bool{}
	for i := range events {
		found := p.Apply(&events[i])
		for _, e := range found.Entries {
			line, err := w.Encode(e)
			if err != nil {
				t.Fatalf("event %d: %v", events[i].Seq, err)
			}
			b.Write(append(line, '\n'))
		}
		for _, a := range found.Artifacts {
			text, err := valid.Encode(a.Artifact)
			if err != nil {
				t.Fatalf("event %d: %v", events[i].Seq, err)
			}
			name := artifact.Name(a.Artifact, a.Title)
			if names[name] {
				t.Errorf("%s is written twice", name)
			}
			names[name] = true
			b.WriteString("== " + name + "\n" + string(text))
		}
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s", name, got)
	}
}

// An attempt in an older log tells its files in words, and a run of many tasks does not fill an artifact.
func TestBounds(t *testing.T) {
	t.Parallel()
	p := New(Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return nil }})
	var last Records
	for _, e := range older() {
		if e.Ended != nil {
			entry := p.Apply(&e).Entries[0]
			if got, want := entry.Action.Description, "Files of the attempt: runs/"+run1+"/T9/1\nFiles changed: a.go, b.go"; got != want {
				t.Errorf("description %q, want %q", got, want)
			}
		}
	}
	p = New(Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return nil }})
	events := []attempts.Event{began("ba5e")}
	for i := range 600 {
		id := fmt.Sprintf("T%d", i)
		events = append(events, started(id, 1, claude()), ended(id, 1, success(attempts.Receipt{Summary: "did it", Learning: "much"})))
	}
	for _, e := range night(run1, 1, append(events, stopped("interrupted", "", ""))...) {
		last = p.Apply(&e)
	}
	got := last.Artifacts[len(last.Artifacts)-1].Done
	if len(got) != 501 || got[500].Task != "… and more, which the report of the run has" {
		t.Errorf("%d tasks, the last %q", len(got), got[len(got)-1].Task)
	}
	if s := last.Entries[0].SessionSummary; len(s.Completed) != 101 || s.Completed[100] != "… and 500 more" || len(s.ImportantContext) > 102 {
		t.Errorf("%d completed, %q, %d notes", len(s.Completed), s.Completed[len(s.Completed)-1], len(s.ImportantContext))
	}
}

// Whatever is in a log, what follows from it is what the formats take.
func FuzzEvents(f *testing.F) {
	for _, events := range [][]attempts.Event{allDone(), halfDone(), nothingDone(), hostile(), older()} {
		text, err := json.Marshal(events)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	plan, err := epic.Read("epic.yml", []byte(planText))
	if err != nil {
		f.Fatal(err)
	}
	entries, err := ledgersync.Open(f.TempDir(), "shop", nil)
	if err != nil {
		f.Fatal(err)
	}
	artifacts, err := artifact.NewValidator()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var events []attempts.Event
		if json.Unmarshal(text, &events) != nil {
			return
		}
		p := New(Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return plan }, Checkpoints: AtLanding})
		for i := range events {
			found := p.Apply(&events[i])
			for _, e := range found.Entries {
				if _, err := entries.Encode(e); err != nil && !strings.Contains(err.Error(), "and may have") {
					t.Fatalf("event %d: %v", i, err)
				}
			}
			for _, a := range found.Artifacts {
				if _, err := artifacts.Encode(a.Artifact); err != nil && !strings.Contains(err.Error(), "and may have") {
					t.Fatalf("event %d: %v", i, err)
				}
			}
		}
	})
}

// The handoff of another program is answered by the first run that quotes it, also when that run was killed.
func TestForeignHandoffIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	p := New(Options{EpicID: "20260111-shop", Plan: func(string) *epic.Epic { return nil }})
	const a, b = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
	start := func(id string) attempts.Event {
		e := began("ba5e")
		e.RunStarted.Handoff = &ledgersync.LeftBehind{ID: id, Agent: "codex", Deferred: []string{"logout"}}
		return e
	}
	var answered []string
	for i, e := range []attempts.Event{start(a), start(a), start(b)} {
		for _, entry := range p.Apply(&night(run1, uint64(i+1), e)[0]).Entries {
			answered = append(answered, entry.Transition.FromEntryID+" of "+entry.Transition.FromAgent)
			w, err := ledgersync.Open(t.TempDir(), "shop", nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Encode(entry); err != nil {
				t.Error(err)
			}
			_ = w.Close()
		}
	}
	if got := strings.Join(answered, ", "); got != a+" of codex, "+b+" of codex" {
		t.Errorf("answered: %s", got)
	}
}
