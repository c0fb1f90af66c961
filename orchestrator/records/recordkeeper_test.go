package records

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"relay/attempts"
	"relay/attempts/ledgersync"
	"relay/epic"
)

const recordkeeperPlanText = `version: 2
id: 20260111-plan
title: Three letters
tasks:
  A: {title: Write a}
  B: {title: Write b, depends_on: [A]}
  C: {title: Write c, kind: bugfix}
`

// checkout is a checkout with relay's folder in it.
type checkout struct {
	top, dir string
	epic     *epic.Epic
	graph    *epic.Graph
	now      time.Time
	mu       sync.Mutex
	warnings []string
}

func newCheckout(t *testing.T) *checkout {
	t.Helper()
	plan, err := epic.Read("epic.yml", []byte(recordkeeperPlanText))
	must(t, err)
	graph, err := epic.NewGraph(plan)
	must(t, err)
	c := &checkout{top: filepath.Join(t.TempDir(), "letters"), epic: plan, graph: graph, now: time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC)}
	c.dir = filepath.Join(c.top, ".agents-os", "relay")
	must(t, os.MkdirAll(c.dir, 0o755))
	must(t, attempts.Create(c.dir, c.epic, attempts.Settings{MaxAttemptsPerTask: 3}, c.clock()))
	return c
}

func (c *checkout) clock() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

func (c *checkout) options(fault func(string) error) KeeperOptions {
	return KeeperOptions{
		Top: c.top, Dir: c.dir, EpicID: c.epic.ID, Epic: c.epic, Plan: []byte(recordkeeperPlanText),
		Settings: Settings{LedgerSync: true, Artifacts: true, Discussions: true},
		Warn: func(text string) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.warnings = append(c.warnings, text)
		},
		Fault: fault,
	}
}

// run carries a run out: its events are appended while its records are kept. between is called before the last event.
func (c *checkout) run(t *testing.T, id string, keeper *Keeper, between func(), events ...attempts.Event) {
	t.Helper()
	store, err := attempts.Open(attempts.Options{Dir: c.dir, Epic: c.epic, Graph: c.graph, Run: id, Now: c.clock, Durable: keeper.Add})
	must(t, err)
	keeper.Start(store.Seq())
	must(t, os.WriteFile(filepath.Join(c.dir, attempts.RunsDir, id, "epic.yml"), []byte(recordkeeperPlanText), 0o600))
	for i, e := range events {
		if i == len(events)-1 && between != nil {
			between()
		}
		must(t, store.Append(e))
	}
	keeper.Close()
	must(t, store.Close())
}

// nights are two runs: B fails in the first and is gated, and a person has it completed in the second.
func nights() (first, second []attempts.Event) {
	first = []attempts.Event{
		{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Version: attempts.LogVersion, EpicID: "20260111-plan", Relay: "1.0"}},
		recordkeeperStarted("A", 1), recordkeeperDone("A", 1), recordkeeperStarted("B", 1), failed("B", 1), recordkeeperStarted("C", 1), recordkeeperDone("C", 1),
		{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{Reason: "interrupted"}},
	}
	second = []attempts.Event{
		{Type: attempts.TypeRunStarted, RunStarted: &attempts.RunStarted{Version: attempts.LogVersion, EpicID: "20260111-plan"}},
		{Type: attempts.TypeUngated, Task: "B"},
		recordkeeperStarted("B", 2),
		{Type: attempts.TypeBriefed, Task: "B", Attempt: 2, Briefed: &attempts.Briefed{Bytes: 100}},
		recordkeeperDone("B", 2),
		{Type: attempts.TypeRunStopped, RunStopped: &attempts.RunStopped{Reason: "epic_complete"}},
	}
	return first, second
}

func recordkeeperStarted(task string, n int) attempts.Event {
	return attempts.Event{Type: attempts.TypeAttemptStarted, Task: task, Attempt: n, Started: &attempts.Started{Runner: "claude", CLI: "claude"}}
}

func recordkeeperDone(task string, n int) attempts.Event {
	return attempts.Event{Type: attempts.TypeAttemptEnded, Task: task, Attempt: n, Ended: &attempts.Ended{
		Result: attempts.ResultSuccess, Outcome: attempts.Success, Receipt: attempts.Receipt{Summary: "wrote " + task},
		Changes: []attempts.FileChange{{Path: task + ".txt", Kind: attempts.FileAdded, Added: 1}},
	}}
}

func failed(task string, n int) attempts.Event {
	return attempts.Event{Type: attempts.TypeAttemptEnded, Task: task, Attempt: n, Ended: &attempts.Ended{
		Gate:   &attempts.Gate{Reason: attempts.MaxAttempts},
		Result: attempts.ResultFailure, Outcome: attempts.Check, Charged: true,
		Receipt: attempts.Receipt{ErrorCategory: attempts.TestFailure, ErrorSummary: "the test fails", Suggestion: "look at the test"},
	}}
}

// records reads all files of records, by name.
func (c *checkout) records(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, folder := range []string{".ledgersync", "thoughts", ".ledger"} {
		err := filepath.WalkDir(filepath.Join(c.top, folder), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			rel, _ := filepath.Rel(c.top, path)
			files[rel] = string(text)
			return err
		})
		must(t, err)
	}
	return files
}

func same(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s:\n%s\nwant\n%s", name, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is there besides", name)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fromZero is what the log of two nights says that there must be.
func (c *checkout) fromZero(t *testing.T) map[string]string {
	t.Helper()
	other := &checkout{top: filepath.Join(t.TempDir(), "letters"), dir: c.dir, epic: c.epic}
	must(t, os.Mkdir(other.top, 0o755))
	o := other.options(nil)
	cursor, err := os.ReadFile(filepath.Join(c.dir, CursorFile))
	counts, rerr := Rebuild(Rebuilding{KeeperOptions: o})
	must(t, rerr)
	if err == nil { // it is another checkout's
		must(t, os.WriteFile(filepath.Join(c.dir, CursorFile), cursor, 0o600))
	}
	if want := (Rebuilt{Counts{8, 8, 0}, Counts{3, 3, 0}, Counts{3, 3, 0}}); counts != want || len(other.warnings) > 0 {
		t.Fatalf("from zero: %+v, want %+v; %q", counts, want, other.warnings)
	}
	return other.records(t)
}

// Wherever a crash comes, the next run leaves each record once, as if there had been none.
func TestKillAtEveryPoint(t *testing.T) {
	t.Parallel()
	first, second := nights()
	for n := 1; ; n++ {
		c := newCheckout(t)
		calls := 0
		fault := func(string) error {
			if calls++; calls >= n {
				return errors.New("killed")
			}
			return nil
		}
		c.run(t, run1, NewKeeper(c.options(fault)), nil, first...)
		killed := calls >= n
		c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
		same(t, c.records(t), c.fromZero(t))
		if t.Failed() {
			t.Fatalf("killed at point %d", n)
		}
		if !killed {
			if n < 15 {
				t.Errorf("%d points only", n)
			}
			return
		}
	}
}

func TestRebuild(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	first, second := nights()
	c.run(t, run1, nil, nil, first...)
	c.run(t, run2, nil, nil, second...)
	want := c.fromZero(t)
	must(t, os.Remove(filepath.Join(c.dir, CursorFile)))
	if len(c.records(t)) > 0 {
		t.Fatal("records are kept though nobody wants them")
	}

	counts, err := Rebuild(Rebuilding{KeeperOptions: c.options(nil), DryRun: true})
	must(t, err)
	if want := (Rebuilt{Counts{8, 8, 0}, Counts{3, 3, 0}, Counts{3, 3, 0}}); counts != want || len(c.records(t)) > 0 {
		t.Errorf("dry run: %+v, want %+v", counts, want)
	}
	counts, err = Rebuild(Rebuilding{KeeperOptions: c.options(nil)})
	must(t, err)
	if want := (Rebuilt{Counts{8, 8, 0}, Counts{3, 3, 0}, Counts{3, 3, 0}}); counts != want {
		t.Errorf("from zero: %+v, want %+v", counts, want)
	}
	same(t, c.records(t), want)

	// Lines of others and what was changed stay, and what was removed comes back.
	name := ledgersync.Path(c.top)
	lines := strings.SplitAfter(want[".ledgersync/ledger.jsonl"], "\n")
	foreign := "{\"id\":\"somebody's\", \"odd\":1}\r\nnot JSON at all\n"
	changed := strings.Replace(lines[2], "claude-code", "somebody", 1)
	must(t, os.WriteFile(name, []byte(foreign+lines[0]+lines[1]+changed+strings.Join(lines[4:], "")), 0o600))
	counts, err = Rebuild(Rebuilding{KeeperOptions: c.options(nil)})
	must(t, err)
	if want := (Rebuilt{Counts{8, 1, 0}, Counts{3, 0, 0}, Counts{3, 0, 0}}); counts != want {
		t.Errorf("of a damaged one: %+v, want %+v", counts, want)
	}
	text, err := os.ReadFile(name)
	must(t, err)
	if want := foreign + lines[0] + lines[1] + changed + strings.Join(lines[4:], "") + lines[3]; string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if len(c.warnings) > 0 {
		t.Errorf("warnings: %q", c.warnings)
	}
}

// A command that appends events brings records up to date before it ends, and writes nothing when they are.
func TestCatchUp(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	first, second := nights()
	c.run(t, run1, nil, nil, first...)
	c.run(t, run2, nil, nil, second...)
	written, err := CatchUp(c.options(nil))
	must(t, err)
	if written != 14 {
		t.Errorf("%d written", written)
	}
	same(t, c.records(t), c.fromZero(t))
	must(t, os.RemoveAll(filepath.Join(c.top, ".ledgersync")))
	if written, err := CatchUp(c.options(nil)); written != 0 || err != nil {
		t.Errorf("what a person has removed is written again: %d, %v", written, err)
	}
	if written, err := CatchUp(KeeperOptions{}); written != 0 || err != nil {
		t.Errorf("without settings: %d, %v", written, err)
	}
}

// The cursor of a log that somebody has removed says nothing of the next one.
func TestAnotherLog(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	must(t, os.WriteFile(filepath.Join(c.dir, CursorFile), []byte(`{"ledgersync":{"seq":900,"offset":70},"artifacts":{"seq":900}}`), 0o600))
	first, second := nights()
	c.run(t, run1, NewKeeper(c.options(nil)), nil, first...)
	c.run(t, run2, NewKeeper(c.options(nil)), nil, second...)
	same(t, c.records(t), c.fromZero(t))
}
