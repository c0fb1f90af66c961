//go:build !race

package orchestrator

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
)

// sample is what this process holds at a time.
type sample struct {
	attempts, routines int
	heap               uint64
}

// day is an Engine of a day and a night in which everything happens that can, over and over.
type day struct {
	mu      sync.Mutex
	rand    *rand.Rand
	begun   int
	every   int // attempts between two samples
	samples []sample
}

func (d *day) Prepare(context.Context, engine.Attempt) (string, error) { return "base", nil }

func (d *day) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	f, takes := d.next(a)
	select {
	case <-ctx.Done():
		return engine.Result{Outcome: attempts.Stopped}, nil
	case <-time.After(takes):
	}
	if f.Outcome == attempts.Quota {
		f.ResetAt = time.Now().Add(20 * time.Minute)
	}
	return f, nil
}

func (d *day) next(a engine.Attempt) (engine.Result, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun++; d.begun%d.every == 0 {
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		d.samples = append(d.samples, sample{d.begun, runtime.NumGoroutine(), mem.HeapAlloc})
	}
	f := engine.Result{Head: "head", Receipt: attempts.Receipt{Summary: "did " + a.Task.ID, ErrorSummary: fmt.Sprintf("error %c of %s", 'a'+rune(d.rand.IntN(26)), a.Mark())}}
	switch n := d.rand.IntN(100); {
	case n < 30:
		f.Outcome = attempts.Success
	case n < 65:
		f.Outcome = []attempts.Outcome{attempts.Agent, attempts.Check, attempts.Review, attempts.Timeout}[n%4]
	case n < 75:
		f.Outcome = attempts.Quota
	case n < 90:
		f.Outcome = attempts.Provider
	default:
		f.Outcome = attempts.Stopped
	}
	return f, time.Duration(1+d.rand.Int64N(int64(10*time.Minute/time.Second))) * time.Second
}

// perAttempt is what an attempt may leave in memory, beyond what the ledger is loaded from: its record, its task's new
// state and its part of the copy of the log. It is some 1,200 bytes.
const perAttempt = 4 << 10

// A day and a night of retries, limits and back-offs leaves nothing behind but what the ledger says of them. Not
// parallel, and not under the race detector: it counts what this process holds.
func TestADayAndANightLeakNothing(t *testing.T) { //nolint:paralleltest // it counts what this process holds
	var text strings.Builder
	text.WriteString("version: 2\nid: 20260101-day\ntitle: day\ntasks:\n")
	for i := range 600 {
		fmt.Fprintf(&text, "  T%d: {title: t}\n", i)
	}
	e, err := epic.Read("epic.yml", []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic: e,
				Dir:  memoryDir(t),
				Run:  "20260101T220000Z-0000",
				Jobs: 8,
				Limits: engine.Limits{
					RunLimits: attempts.RunLimits{MaxAttempts: 8, MaxUncharged: 50, Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute},
				},
			},
			Graph: g,
		},
		Policy: decide.Policy{
			Runners: []string{"claude", "codex"},
			Notify:  func(decide.Update) {},
		},
	}
	d := &day{rand: rand.New(rand.NewPCG(1, 2)), every: 100}
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		n := newRun(&o, store, abilities(d))
		store.View(func(l *attempts.Ledger) { n.state.Plan = schedule.New(e, g, l, nil) })
		ctx, cancel := context.WithTimeoutCause(t.Context(), 24*time.Hour, ErrInterrupted)
		defer cancel()
		if err := n.work(ctx); err != nil || ctx.Err() == nil {
			t.Errorf("the night ended before its time, with %v", err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%+v", d.samples)
	if len(d.samples) < 8 {
		t.Fatalf("%d attempts in 24 hours", d.begun)
	}
	first, last := d.samples[2], d.samples[len(d.samples)-1]
	for _, s := range d.samples[len(d.samples)-4:] { // other tests of this process take memory for a moment
		last.heap = min(last.heap, s.heap)
	}
	if last.routines > first.routines+o.Jobs {
		t.Errorf("%d goroutines after %d attempts, %d after %d", last.routines, last.attempts, first.routines, first.attempts)
	}
	if most := first.heap + uint64(last.attempts-first.attempts)*perAttempt; last.heap > most {
		t.Errorf("%d bytes after %d attempts, %d after %d", last.heap, last.attempts, first.heap, first.attempts)
	}
}
