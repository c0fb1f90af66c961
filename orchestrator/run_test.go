package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/limits"
	"relay/reanchor/git/repotest"
)

func TestMain(m *testing.M) { repotest.Main(m) }

// step is what a simulated attempt does: it takes a while, then ends.
type step struct {
	takes   time.Duration
	outcome attempts.Outcome
	why     string
	resetIn time.Duration // Quota: until the window opens again, from the attempt's end
	limited string        // the reviewer it is about
	wall    time.Duration // until then every attempt of the task ends so, and then well
	usd     []float64     // what it tells to have cost, a minute after the other; the last is what it costs in the end
	tokens  int64         // what it uses, told at the end
	held    bool          // no agent is asked: a check cannot run

	contested []string // files in which its work conflicts with what has landed
}

// simulated is an Engine whose attempts follow a script in fake time. A task without a script succeeds in a minute.
type simulated struct {
	mu     sync.Mutex
	script map[string][]step
	log    []string // "T1 claude 0s"
	at     []begun  // the same, as it came
	start  time.Time
	now    func() time.Time // the day's clock
	dir    string
	halted decide.StopReason
	naps   []limits.Sleep
	hear   func(engine.Event)
	panel  []engine.Reviewer
	over   func() string // the cap that ended the night, or ""
}

type begun struct {
	task string
	at   time.Duration
	line string
}

// sorted makes the log one of decisions: of two workers that begin at one moment either can be first.
func (s *simulated) sorted() {
	slices.SortStableFunc(s.at, func(a, b begun) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.task, b.task)) })
	for _, b := range s.at {
		s.log = append(s.log, b.line)
	}
}

func (s *simulated) Prepare(context.Context, engine.Attempt) (string, error) { return "base", nil }

func (s *simulated) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	s.mu.Lock()
	st := step{takes: time.Minute, outcome: attempts.Success}
	at := time.Since(s.start)
	if rest := s.script[a.Task.ID]; len(rest) > 0 && (rest[0].wall == 0 || at < rest[0].wall) {
		st = rest[0]
		if st.wall == 0 {
			s.script[a.Task.ID] = rest[1:]
		}
	}
	who := a.Runner
	if a.Previous.AwaitsReview() {
		who = "review"
	}
	s.at = append(s.at, begun{a.Task.ID, at, fmt.Sprintf("%s %s %s", a.Task.ID, who, at)})
	s.mu.Unlock()
	usage := attempts.Usage{InputTokens: st.tokens}
	for _, usd := range st.usd {
		select {
		case <-ctx.Done():
			return engine.Result{Outcome: attempts.Stopped, Usage: usage}, nil
		case <-time.After(time.Minute):
		}
		usage.CostUSD = usd
		s.hear(engine.Event{Task: a.Task.ID, Kind: engine.KindUsage, Usage: usage})
	}
	select {
	case <-ctx.Done():
		return engine.Result{Outcome: attempts.Stopped, Usage: usage}, nil
	case <-time.After(st.takes):
	}
	f := engine.Result{
		Outcome: st.outcome, Held: st.held, Usage: usage,
		Receipt: attempts.Receipt{ErrorSummary: st.why, ErrorCategory: attempts.CodeError, Contested: st.contested},
	}
	if st.resetIn > 0 {
		f.ResetAt = s.now().Add(st.resetIn)
	}
	for _, r := range a.Closed {
		if c, yes := a.NotBefore(r.Runner, s.now()); yes && st.outcome == attempts.Success {
			f.Outcome, st.limited, st.why = attempts.Provider, r.Runner, "not asked before "+plaintext.Timestamp(c.Until)+plaintext.Because(c.Why)
			if c.Named {
				f.Outcome = attempts.Quota
			}
		}
	}
	if f.Outcome == attempts.Success && len(s.panel) > 0 {
		f.Receipt.Review = &attempts.Reviewed{}
		for _, r := range s.panel {
			f.Receipt.Review.Opinions = append(f.Receipt.Review.Opinions, attempts.Opinion{Reviewer: r.Name})
		}
	}
	if st.limited != "" { // nothing but this reviewer's opinion is missing
		f.Unable = []engine.Unable{{Name: st.limited, Why: st.why, ResetAt: f.ResetAt, Outcome: st.outcome}}
		f.ResetAt, f.Head, f.Receipt.Salvage = time.Time{}, "c0ffee", "refs/relay/kept"
		f.Receipt.Review = &attempts.Reviewed{Missing: []attempts.Missing{{Reviewer: st.limited, Why: st.why}}}
	}
	return f, nil
}

// simulate runs a night over epicText in fake time and returns what happened.
func simulate(t *testing.T, epicText string, o Options, script map[string][]step, night func(*simulated, *attempts.Store, error)) {
	t.Helper()
	simulateUntil(t, "", scene{epic: epicText, o: o, script: script}, night)
}

// scene is what a simulated night begins with.
type scene struct {
	epic   string
	o      Options
	script map[string][]step
	clock  *dayClock // nil: the day goes as the run does
	drain  time.Duration
	sleeps bool // what clock jumps, the machine slept
	person func(t *testing.T, n *run) (over func())
}

// simulateUntil is simulate for a night that is stopped when a watcher hears stop.
func simulateUntil(t *testing.T, stop decide.UpdateKind, of scene, night func(*simulated, *attempts.Store, error)) {
	t.Helper()
	o := of.o
	e, err := epic.Read("epic.yml", []byte(of.epic))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		o.Epic, o.Graph, o.Dir, o.Run = e, g, dir, "20260101T220000Z-0000"
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		o.Jobs = max(o.Jobs, 1)
		if o.Runners == nil {
			o.Runners = []string{"claude"}
		}
		o.Limits.MaxAttempts, o.Limits.MaxUncharged, o.Limits.Backoff, o.Limits.BackoffMax = 3, 20, 30*time.Second, 15*time.Minute
		o.Limits.TaskFaults, o.Limits.OutAfter, o.Limits.OutPeriod, o.Limits.Patience = 3, 5, 10*time.Minute, 8*time.Hour
		s := &simulated{script: of.script, panel: o.Review.Reviewers, start: time.Now(), now: time.Now, dir: dir}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		notify := o.Notify
		o.Notify = func(u decide.Update) {
			if u.Kind == stop {
				cancel()
			}
			if notify != nil {
				notify(u)
			}
		}
		if of.drain > 0 {
			drain := make(chan struct{})
			o.Drain = drain
			defer time.AfterFunc(of.drain, func() { close(drain) }).Stop()
		}
		n := newRun(&o, store, abilities(s))
		s.over = func() string {
			if over := n.limits.Budget.Exhausted(); over != nil && n.limits.ExhaustedBy != nil {
				return over.Error()
			}
			return ""
		}
		s.hear = func(h engine.Event) { n.state.WithLock(func() { n.limits.RecordUsage(h) }) }
		if of.clock != nil {
			s.now, n.state.Now = of.clock.now, of.clock.now
			of.clock.begin()
		}
		if of.sleeps {
			n.up = func() time.Duration { return of.clock.now().Sub(midnight) }
		}
		n.state.PlanTasks(nil)
		gone := func() {}
		if of.person != nil {
			gone = of.person(t, n)
		}
		err = n.work(ctx)
		gone()
		s.halted, s.naps = n.limits.Stopped, n.state.Summary.Suspends
		s.sorted()
		n.stopForTest(t, ctx, err)
		night(s, store, err)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		asRecorded(t, &o)
	})
}

func openedLedger(t *testing.T, o *Options) (*attempts.Store, error) {
	t.Helper()
	return openLedger(o, nil, func(text string) { t.Log(text) })
}

const threeInARow = `version: 2
id: 20260101-night
title: night
tasks:
  A: {title: a}
  B: {title: b, depends_on: [A]}
  C: {title: c, depends_on: [B]}
  X: {title: x}
`

func TestHeaviestPathGoesFirst(t *testing.T) {
	t.Parallel()
	simulate(t, threeInARow, Options{}, nil, func(s *simulated, _ *attempts.Store, err error) {
		got, want := strings.Join(s.log, ", "), "A claude 0s, B claude 1m0s, C claude 2m0s, X claude 3m0s"
		if err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	})
}

func TestQuotaIsWaitedOutUncharged(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{takes: time.Minute, outcome: attempts.Quota, why: "limit", resetIn: 5 * time.Hour}}}
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Jobs: 2}}}
	simulate(t, threeInARow, o, script, func(s *simulated, store *attempts.Store, err error) {
		// X was under way when the limit hit; nothing is asked before the window opens.
		got := strings.Join(s.log, ", ")
		want := "A claude 0s, X claude 0s, A claude 5h1m0s, B claude 5h2m0s, C claude 5h3m0s"
		if err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
		if charges := store.Task("A").Charges(); charges != 0 {
			t.Errorf("A was charged %d times for the provider's limit", charges)
		}
	})
}

func TestProviderFaultsBackOffAndForget(t *testing.T) {
	t.Parallel()
	fault := step{outcome: attempts.Provider, why: "overloaded"}
	script := map[string][]step{"A": {fault, fault, fault}, "B": {fault}}
	simulate(t, strings.ReplaceAll(threeInARow, "X: {title: x}", "X: {title: x, depends_on: [C]}"), Options{}, script, func(s *simulated, _ *attempts.Store, err error) {
		got := strings.Join(s.log[:6], ", ")
		// 30 s, 60 s, 120 s; after A has worked, B's first fault waits 30 s again.
		want := "A claude 0s, A claude 30s, A claude 1m30s, A claude 3m30s, B claude 4m30s, B claude 5m0s"
		if err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	})
}

func TestNextRunnerTakesOver(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {{outcome: attempts.Quota, why: "limit", resetIn: 90 * time.Second}}}
	simulate(t, threeInARow, Options{Policy: decide.Policy{Runners: []string{"claude", "codex"}}}, script, func(s *simulated, _ *attempts.Store, err error) {
		got, want := strings.Join(s.log, ", "), "A claude 0s, A codex 0s, B codex 1m0s, C claude 2m0s, X claude 3m0s"
		if err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
	})
}

func TestNoRunnerLeftEndsTheRun(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": always(step{outcome: attempts.Auth, why: "not logged in"}), "X": always(step{outcome: attempts.Auth, why: "not logged in"})}
	simulate(t, threeInARow, Options{}, script, func(s *simulated, store *attempts.Store, err error) {
		if !errors.As(err, new(*decide.NoRunnerError)) || !strings.Contains(err.Error(), "not logged in") {
			t.Errorf("got %v, want ErrNoRunner with the reason", err)
		}
		want := "A claude 0s, X claude 5s, A claude 15s, X claude 35s, A claude 1m15s, X claude 2m35s, A claude 5m15s, X claude 10m15s"
		if got := strings.Join(s.log, ", "); got != want || store.Task("A").Charges() != 0 {
			t.Errorf("got attempts %s, charged %d; want %s, uncharged", got, store.Task("A").Charges(), want)
		}
	})
}

func TestGatedTaskStopsItsDependantsOnly(t *testing.T) {
	t.Parallel()
	script := map[string][]step{"A": {
		{outcome: attempts.Agent, why: "no such table"}, {outcome: attempts.Agent, why: "no such column"}, {outcome: attempts.Agent, why: "no such index"},
	}}
	simulate(t, threeInARow, Options{}, script, func(s *simulated, store *attempts.Store, err error) {
		got, want := strings.Join(s.log, ", "), "A claude 0s, X claude 0s, A claude 1m0s, A claude 1m0s"
		if err != nil || got != want {
			t.Errorf("got %s (%v), want %s", got, err, want)
		}
		gate := store.Task("A").Gate
		if gate == nil || gate.Reason != attempts.MaxAttempts {
			t.Errorf("got gate %+v, want %s", gate, attempts.MaxAttempts)
		}
		if c := store.Counts(); c[attempts.BlockedOn] != 2 || c[attempts.Completed] != 1 {
			t.Errorf("got counts %v, want 2 blocked and 1 completed", c)
		}
	})
}

func TestUnchargedRetriesEnd(t *testing.T) {
	t.Parallel()
	script := map[string][]step{}
	for range 100 {
		script["A"] = append(script["A"], step{outcome: attempts.Provider, why: "overloaded"})
	}
	simulate(t, strings.ReplaceAll(threeInARow, "X: {title: x}", ""), Options{}, script, func(s *simulated, store *attempts.Store, err error) {
		gate := store.Task("A").Gate
		if err != nil || gate == nil || gate.Reason != attempts.Infrastructure {
			t.Errorf("got gate %+v (%v), want %s", gate, err, attempts.Infrastructure)
		}
		if n := len(store.Task("A").Attempts); n != 20 {
			t.Errorf("got %d attempts, want 20", n)
		}
	})
}

func TestFaultsThatWaitingDoesNotMendEndSoon(t *testing.T) {
	t.Parallel()
	lost := step{outcome: attempts.Environment, why: "the reviewer gave no verdict"}
	simulate(t, threeInARow, Options{}, map[string][]step{"A": {lost, lost, lost, lost}}, func(s *simulated, store *attempts.Store, err error) {
		task := store.Task("A")
		if err != nil || task.Gate == nil || task.Gate.Reason != attempts.Infrastructure || len(task.Attempts) != 3 {
			t.Errorf("got gate %+v after %d attempts (%v), want %s after 3", task.Gate, len(task.Attempts), err, attempts.Infrastructure)
		}
	})
}

// abilities are those of an engine for tests.
func abilities(e engine.Engine) engine.Abilities {
	merger, _ := e.(engine.Merger)
	return engine.Abilities{Engine: e, Merger: merger}
}
