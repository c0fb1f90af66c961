package reanchor

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"relay/attempts/artifact"
	"relay/attempts/ledgersync"
	"relay/epic"
)

var noon = time.Date(2026, 1, 12, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// entry returns an entry that was written so many hours before noon.
func entry(n, hours int, by string, of ledgersync.Type, files ...string) *ledgersync.Entry {
	e := &ledgersync.Entry{
		ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Timestamp: ledgersync.Stamp(noon.Add(-time.Duration(hours) * time.Hour)),
		Agent: ledgersync.Agent{Name: by}, Session: ledgersync.Session{ID: "s"}, Type: of,
		Action:    ledgersync.Action{Type: of.Action(), Summary: fmt.Sprintf("did %d", n)},
		Reasoning: ledgersync.Reasoning{Intent: fmt.Sprintf("because %d", n)},
	}
	for _, f := range files {
		e.Artifacts = append(e.Artifacts, ledgersync.Artifact{Path: f, Action: ledgersync.Modified})
	}
	if of == ledgersync.Handoff {
		e.SessionSummary = &ledgersync.SessionSummary{
			Completed: []string{"the login"}, ImportantContext: map[string]string{"port": "5433"}, HandoffNotes: "start the database",
		}
	}
	return e
}

func tagged(e *ledgersync.Entry, tags ...string) *ledgersync.Entry {
	e.Tags = tags
	return e
}

func write(t *testing.T, top string, entries ...*ledgersync.Entry) {
	t.Helper()
	w, err := ledgersync.Open(top, "demo", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append(entries...); err != nil {
		t.Fatal(err)
	}
}

func TestTheLastHandoffIsTheEpicsOwn(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	r := NewRecordReader(top, "users", clock)
	if found := r.Find(nil); found.Source != nil || found.Handoff.Text != "" {
		t.Errorf("nothing was left, and this was found: %+v", found)
	}
	write(t, top, entry(1, 30, "codex", ledgersync.Handoff))
	if found := r.Find(nil); found.Handoff.ID != entry(1, 0, "", "").ID || found.Handoff.By != "codex" || found.Handoff.Age != "30 hours ago" {
		t.Errorf("the handoff of another program: %+v", found.Handoff)
	}
	write(t, top, tagged(entry(2, 20, "relay", ledgersync.Handoff), "relay", "users", "run:1"),
		tagged(entry(3, 19, "claude-code", ledgersync.Handoff), "relay", "users", "T1", "run:1"), // of an attempt: its receipt tells it
		entry(4, 10, "codex", ledgersync.Handoff))
	found := r.Find(nil)
	want := "Summary: did 2\nWhy: because 2\nCompleted:\n- the login\nNotes: start the database\n"
	if found.Handoff.ID != entry(2, 0, "", "").ID || found.Handoff.Text != want || found.Handoff.Context != "port: 5433\n" {
		t.Errorf("got %+v", found.Handoff)
	}
	if found := NewRecordReader(top, "other", clock).Find(nil); found.Handoff.ID != entry(4, 0, "", "").ID {
		t.Errorf("another epic has %+v", found.Handoff)
	}
}

func TestQuestionsOfWhoTookOver(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	left := entry(1, 5, "codex", ledgersync.Handoff)
	left.Reasoning.Uncertainties = []string{"REST or RPC?"}
	took := entry(2, 4, "gemini", ledgersync.Transition)
	took.Transition = &ledgersync.TransitionDetails{FromEntryID: left.ID, Readiness: ledgersync.Readiness{ClarificationsNeeded: []string{"Which port?"}}}
	write(t, top, left, took)
	got := NewRecordReader(top, "users", clock).Find(nil).Questions
	want := []Thread{{By: "codex", Age: "5 hours ago", Question: "REST or RPC?"}, {By: "gemini", Age: "4 hours ago", Question: "Which port?"}}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	left := entry(1, 5, "codex", ledgersync.Handoff)
	left.SessionSummary.Deferred = []string{"logout"}
	write(t, top, left)
	r := NewRecordReader(top, "users", clock)
	if got := r.Unanswered(); got == nil || got.ID != left.ID || got.Agent != "codex" || got.Session != "s" || !slices.Equal(got.Deferred, left.SessionSummary.Deferred) {
		t.Errorf("a handoff that nothing has answered: got %+v", got)
	}
	took := tagged(entry(2, 4, "relay", ledgersync.Transition), "relay", "users", "run:1")
	took.Transition = &ledgersync.TransitionDetails{FromEntryID: left.ID, Readiness: ledgersync.Readiness{ClarificationsNeeded: []string{"Which port?"}}}
	write(t, top, took)
	if got, asked := r.Unanswered(), r.Find(nil).Questions; got != nil || len(asked) > 0 {
		t.Errorf("a run has answered it: got %+v, questions %+v", got, asked)
	}
	write(t, top, entry(3, 3, "codex", ledgersync.Handoff), tagged(entry(4, 2, "relay", ledgersync.Handoff), "relay", "users", "run:1"))
	if got := r.Unanswered(); got != nil {
		t.Errorf("the last handoff is a run's own: got %+v", got)
	}
}

func TestWhatOthersDidToTheFilesOfATask(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, top,
		entry(1, 9, "codex", "", "api/users.go", "README.md"),
		tagged(entry(2, 8, "claude-code", "", "api/users.go"), "relay", "users", "T1", "run:1"),
		tagged(entry(3, 7, "claude-code", "", "api/users.go"), "relay", "other", "T1", "run:1"),
		entry(4, 6, "codex", "", "web/index.html"),
		entry(5, 5, "codex", ledgersync.Handoff, filepath.Join(top, "api", "users_test.go")))
	r := NewRecordReader(top, "users", clock)
	ids := func(files ...string) (ids []string) {
		for _, e := range r.Find(files).Entries {
			ids = append(ids, strings.TrimLeft(e.ID[24:], "0")+" "+strings.Join(e.Files, " "))
		}
		return ids
	}
	for _, c := range []struct{ files, want []string }{
		{nil, nil},
		{[]string{"api/users.go"}, []string{"3 modified api/users.go", "1 modified api/users.go"}},
		{[]string{"./api"}, []string{"3 modified api/users.go", "1 modified api/users.go"}},
		{[]string{"**/*.html", "none"}, []string{"4 modified web/index.html"}},
		{[]string{"README.md"}, []string{"1 modified README.md"}},
		{[]string{"api/*_test.go"}, nil}, // the handoff, which is quoted already
	} {
		if got := ids(c.files...); !slices.Equal(got, c.want) {
			t.Errorf("%q: got %q, want %q", c.files, got, c.want)
		}
	}
	write(t, top, entry(6, 1, "codex", "", "api/users.go"))
	if got := ids("api/users.go"); len(got) != 3 || !strings.HasPrefix(got[0], "6 ") {
		t.Errorf("after another entry: %q", got)
	}
}

// A ledger that was rewritten, damaged or replaced gives what can be read of it.
func TestALedgerThatHasChanged(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	write(t, top, entry(1, 9, "codex", ledgersync.Handoff), entry(2, 8, "codex", "", "a.go"))
	r := NewRecordReader(top, "users", clock)
	if found := r.Find([]string{"a.go"}); found.Source == nil || len(found.Entries) != 1 {
		t.Fatalf("got %+v", found)
	}
	path := ledgersync.Path(top)
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.LastIndex(strings.TrimSpace(string(lines)), "\n") + 1
	for name, text := range map[string]string{
		"without its first line": string(lines[at:]),
		"with another before it": "{\"path\": \"a.go\", \"handoff\"\n\n\xff\x00" + string(lines[at:]),
		"without an end":         strings.TrimSpace(string(lines[at:])),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if found := r.Find([]string{"a.go"}); found.Source != nil || (len(found.Entries) != 1) != (name == "with another before it") {
				t.Errorf("%s: got %+v", name, found)
			}
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o750); err != nil {
		t.Fatal(err)
	}
	if found := r.Find([]string{"a.go"}); found.Source != nil || len(found.Entries) != 0 {
		t.Errorf("a folder: got %+v", found)
	}
}

func TestTheNewestArtifactStandsInForAHandoff(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	w, err := artifact.Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for hours, session := range map[int]string{2: "other", 30: "users", 50: "users"} {
		a := artifact.New(artifact.Handoff, "Goal of "+session, "the API", artifact.PartialPlus, artifact.Origin{
			Date: noon.Add(-time.Duration(hours) * time.Hour), Session: session, PrimaryBead: "b", AgentID: "codex",
		})
		a.Next, a.Questions, a.Failed = []string{"tests"}, []string{"Which port?"}, []string{"guessing"}
		a.FilesToReview, a.ContinuationPrompt = []artifact.FileRef{{Path: "a.go", Note: "half done"}}, "Run make."
		if _, err := w.Put(a, "x"); err != nil {
			t.Fatal(err)
		}
	}
	found := NewRecordReader(top, "users", clock).Find(nil)
	want := Handoff{By: "codex", Age: "30 hours ago", Text: "Goal: Goal of users\nNow: the API\nOutcome: PARTIAL_PLUS\nNext:\n- tests\nDid not work:\n- guessing\nTo review: a.go: half done\nTo go on: Run make.\n"}
	if found.Handoff != want || len(found.Questions) != 1 || found.Source.Artifact == nil {
		t.Errorf("got %+v", found)
	}
	if found := NewRecordReader(top, "third", clock).Find(nil); found.Handoff.Age != "2 hours ago" {
		t.Errorf("of another epic: %+v", found.Handoff)
	}
}

func TestDocumentsThatAreThere(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	r := NewRecordReader(top, "users", clock)
	write(t, top)
	if got := r.Find(nil).Documents; got != nil {
		t.Errorf("relay's own configuration names %q", got)
	}
	for name, text := range map[string]string{
		".ledgersync/config.yaml": "version: \"0.1\"\nphilosophy:\n  required: [./docs/rules.md, gone.md, ../outside.md, /etc/passwd, .]\n  optional: [b.md]\n",
		"docs/rules.md":           "rules",
		"b.md":                    "b",
	} {
		path := filepath.Join(top, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.Find(nil).Documents; !slices.Equal(got, []string{"docs/rules.md"}) {
		t.Errorf("got %q", got)
	}
}

// Looking things up takes a time that grows with the ledger, and not with its square.
func TestLookUpsInALongLedger(t *testing.T) {
	t.Parallel()
	const short, long = 1_000, 10_000
	if small, large := timeOfLookUp(t, short), timeOfLookUp(t, long); large > 4*small*long/short {
		t.Errorf("it took %v for %d entries, and %v for %d", small, short, large, long)
	}
}

// timeOfLookUp returns the shortest time in which the brief of a task was filled from a ledger of so many entries.
func timeOfLookUp(t *testing.T, entries int) time.Duration {
	t.Helper()
	top := t.TempDir()
	var all []*ledgersync.Entry
	for n := range entries {
		of := ledgersync.Type("")
		if n%3 == 0 {
			of = ledgersync.Handoff
		}
		e := entry(n, 1, "codex", of, fmt.Sprintf("api/f%d.go", n%(entries/2)), "README.md")
		e.Action.Description = strings.Repeat("words of a description ", 30)
		all = append(all, e)
	}
	write(t, top, all...)
	best := time.Hour
	for range 5 {
		r := NewRecordReader(top, "users", time.Now)
		in := Input{Task: epic.Task{Files: []string{"api/f7.go", "api/f8*.go", "README.md"}}}
		began := time.Now()
		r.Fill(&in)
		best = min(best, time.Since(began))
		if in.Handoff.ID == "" || len(in.Entries) != mostTold {
			t.Fatalf("got %+v", in)
		}
	}
	return best
}

// Of the handoff of a run on the epic, a brief keeps what lasts: no state of that run, nothing that receipts or learnings tell.
func TestOwnHandoff(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	left := tagged(entry(1, 5, "relay", ledgersync.Handoff), "relay", "users", "run:1")
	left.SessionSummary = &ledgersync.SessionSummary{
		Completed: []string{"T1: the login"}, CurrentState: map[string]string{"run": "gave up"}, Blockers: []string{"T2 is gated"}, HandoffNotes: "relay ungate T2",
		Deferred: []string{"T3: logout", "found by T1, and left: no licence", "put off by the review of T1: a.go:3: slow"},
		ImportantContext: map[string]string{
			"T1 decided, port": "5433", "T2 decided, port": "1", "T4 decided, port": "2", "T4 learned": "tabs", "base": "b", "head": "h",
		},
	}
	write(t, top, left)
	w, err := artifact.Open(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	a := artifact.New(artifact.Handoff, "Goal", "gave up", artifact.PartialPlus, artifact.Origin{Date: noon, Session: "bare", PrimaryBead: "b", AgentID: "relay"})
	a.Done, a.Blockers, a.ContinuationPrompt = []artifact.Task{{Task: "T1: the login"}}, []string{"T2 is gated"}, "relay ungate T2"
	a.Findings = []artifact.Note{{Key: "discovered 1", Text: "found by T1, and left: no licence"}, {Key: "T1", Text: "tabs"}}
	a.Metadata = map[string]any{"relay": map[string]any{"run": "1"}}
	if _, err := w.Put(a, "x"); err != nil {
		t.Fatal(err)
	}
	for _, want := range [][3]string{
		{"users", "Completed:\n- T1: the login\nFound, and left:\n- found by T1, and left: no licence\n- put off by the review of T1: a.go:3: slow\n", "T4 decided, port: 2\n"},
		{"bare", "Completed:\n- T1: the login\nFound, and left:\n- found by T1, and left: no licence\n", ""},
	} {
		in := Input{Task: epic.Task{ID: "T2"}, Dependencies: []Dependency{{ID: "T1"}}}
		r := NewRecordReader(top, want[0], clock)
		if want[0] == "bare" { // the ledger is gone
			if err := os.Remove(ledgersync.Path(top)); err != nil {
				t.Fatal(err)
			}
		}
		if r.Fill(&in); in.Handoff.Text != want[1] || in.Handoff.Context != want[2] || in.Handoff.By != "relay" {
			t.Errorf("%s: got %+v", want[0], in.Handoff)
		}
	}
}
