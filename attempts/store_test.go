package attempts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic"
)

// plan is an epic of n tasks, each of which waits for the one five before it.
func plan(tb testing.TB, n int) (*epic.Epic, *epic.Graph) {
	tb.Helper()
	e := &epic.Epic{Version: 2, ID: "20260111-plan", Title: "Plan"}
	for i := 1; i <= n; i++ {
		task := epic.Task{ID: fmt.Sprintf("T%d", i), Title: "task", Priority: 2, Kind: epic.KindFeature, Criteria: []epic.Criterion{{Text: "done"}}}
		if i > 5 {
			task.DependsOn = []string{fmt.Sprintf("T%d", i-5)}
		}
		e.Tasks = append(e.Tasks, task)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		tb.Fatal(err)
	}
	return e, g
}

type bench struct {
	dir string
	e   *epic.Epic
	g   *epic.Graph
}

func newBench(tb testing.TB, tasks int) *bench {
	tb.Helper()
	b := &bench{dir: filepath.Join(tb.TempDir(), "relay")}
	b.e, b.g = plan(tb, tasks)
	settings := Settings{MaxAttemptsPerTask: 3, TimeoutMinutes: 15, Review: ReviewSettings{Provider: "none"}}
	if err := Create(b.dir, b.e, settings, clock()()); err != nil {
		tb.Fatal(err)
	}
	return b
}

// clock returns a clock that moves one second with each look.
func clock() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 1, 11, 22, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func (b *bench) options(run string) Options {
	return Options{Dir: b.dir, Epic: b.e, Graph: b.g, Run: run, Now: clock()}
}

func (b *bench) open(tb testing.TB, run string) *Store {
	tb.Helper()
	s, err := Open(b.options(run))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func (b *bench) read(tb testing.TB) *View {
	tb.Helper()
	v, err := Read(b.dir, b.e, b.g)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func started(task string, n int) Event {
	return Event{Type: TypeAttemptStarted, Task: task, Attempt: n, Started: &Started{Runner: "claude", Base: "abc123"}}
}

func succeeded(task string, n int) Event {
	return Event{Type: TypeAttemptEnded, Task: task, Attempt: n, Ended: &Ended{
		Result: ResultSuccess, Outcome: Success, Head: "def456", Usage: &Usage{InputTokens: 10, CachedTokens: 4, OutputTokens: 3, CostUSD: 0.25},
		Receipt: Receipt{Summary: "made " + task, FilesChanged: []string{"a.go", "b/c d.go"}, Checks: []CheckRun{{Name: "go test", Seconds: 1.5}}},
	}}
}

// landing is what succeeded will say, before the branch moves.
func landing(task string, n int) Event {
	e := succeeded(task, n)
	e.Type, e.Landing, e.Ended = TypeLanding, e.Ended, nil
	e.Landing.Landed = "fed987"
	return e
}

func failed(task string, n int, text string) Event {
	return Event{Type: TypeAttemptEnded, Task: task, Attempt: n, Ended: &Ended{
		Result: ResultFailure, Outcome: Check, Charged: true,
		Receipt: Receipt{ErrorCategory: TestFailure, ErrorSummary: text, Findings: "## Finding 1: x\n**Severity:** HIGH\n"},
	}}
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

const run1, run2, run3 = "20260111T220000Z-aaaa", "20260112T220000Z-bbbb", "20260113T220000Z-cccc"

func (b *bench) night(tb testing.TB, s *Store) {
	tb.Helper()
	must(tb, s.Append(Event{Type: TypeRunStarted, RunStarted: &RunStarted{PID: 42, Jobs: 2, Settings: Settings{MaxAttemptsPerTask: 3}, Integration: "relay/plan", Branch: "main"}}))
	must(tb, s.Append(started("T1", 1), succeeded("T1", 1)))
	must(tb, s.Append(started("T2", 1), failed("T2", 1, "exit 1: \"quoted\"\nline: - #two\x1b[31m")))
	must(tb, s.Append(started("T3", 1)))
	must(tb, s.Append(Event{Type: TypeGated, Task: "T4", Gate: &Gate{Reason: UserBlocked, Detail: "later"}}))
}

func TestStoreRemembers(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	b.night(t, s)
	want := map[Status]int{Completed: 1, Pending: 3, InProgress: 1, Gated: 1, BlockedOn: 1}
	if got := s.Counts(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	must(t, s.Close())

	v := b.read(t)
	if fmt.Sprint(v.Counts) != fmt.Sprint(want) || v.Edit != "" || len(v.Warnings) > 0 || v.Running || v.Jobs != 2 || v.Holder != nil {
		t.Errorf("got %+v", v)
	}
	if got := v.Ledger.Tasks["T2"].Charges(); got != 1 {
		t.Errorf("got %d charges, want 1", got)
	}
	s = b.open(t, run2)
	if got := s.Task("T1").Attempts[0].Receipt.Summary; got != "made T1" {
		t.Errorf("got %q", got)
	}
	must(t, s.Close())
}

// What the YAML says and what the log says are the same, down to the last byte of every text.
func TestLedgerFileSaysWhatTheLogSays(t *testing.T) {
	t.Parallel()
	b := newBench(t, 7)
	s := b.open(t, run1)
	b.night(t, s)
	must(t, s.Close())
	text, err := os.ReadFile(filepath.Join(b.dir, LedgerFile))
	must(t, err)
	p, err := parseLedger(text)
	must(t, err)
	if len(p.odd) > 0 || p.extra != "" {
		t.Errorf("got %q, %q", p.odd, p.extra)
	}
	var again bytes.Buffer
	must(t, newFold(b.g, p.ledger).render(&again))
	if got, want := again.String(), string(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOneStoreAtATime(t *testing.T) {
	t.Parallel()
	b := newBench(t, 3)
	s := b.open(t, run1)
	_, err := Open(b.options(run2))
	var held *HeldError
	if !errors.As(err, &held) || held.Holder.PID != os.Getpid() || held.Holder.Epic != b.e.ID {
		t.Errorf("got %v", err)
	}
	if v := b.read(t); !v.Running || v.Holder == nil {
		t.Errorf("got %+v", v)
	}
	must(t, s.Close())
	must(t, b.open(t, run2).Close())
}

func TestConcurrentAppendsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t, 64)
	s := b.open(t, run1)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			id := fmt.Sprintf("T%d", i+1)
			if err := errors.Join(s.Append(started(id, 1)), s.Append(failed(id, 1, "no")), s.Append(started(id, 2), succeeded(id, 2))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	must(t, s.Close())
	v := b.read(t)
	if v.Counts[Completed] != 64 || len(v.Warnings) > 0 {
		t.Errorf("got %v, %q", v.Counts, v.Warnings)
	}
	faults, err := Validate(b.options(""))
	if err != nil || len(faults) > 0 {
		t.Errorf("got %v, %v", faults, err)
	}
	if !strings.Contains(fmt.Sprint(v.Ledger.Tasks["T9"].Attempts[1].Receipt.FilesChanged), "b/c d.go") {
		t.Error("the receipt is not whole")
	}
}

// What could not be made durable is not folded in, and nothing is written after it.
func TestAppendAfterAFailure(t *testing.T) {
	t.Parallel()
	b := newBench(t, 2)
	o := b.options(run1)
	broken := errors.New("broken")
	o.Fault = func(point string) error {
		if point == durable.AfterSync {
			return broken
		}
		return nil
	}
	s, err := Open(o)
	must(t, err)
	defer s.Close()
	for _, id := range []string{"T1", "T2"} {
		if err := s.Append(started(id, 1)); !errors.Is(err, broken) {
			t.Errorf("%s: got %v", id, err)
		}
		if len(s.Task(id).Attempts) > 0 {
			t.Errorf("%s: what is not durable was folded in", id)
		}
	}
}
