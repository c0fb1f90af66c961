package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/runners"
)

// badNight is an Engine whose runners are down, limited or logged out at times, and never answer some tasks. What an agent
// has done by then is kept, as relay keeps it.
type badNight struct {
	mu     sync.Mutex
	start  time.Time
	hear   func(engine.Event)
	hazard map[string][]hazard      // by runner
	poison map[string]poison        // by task
	done   map[string]time.Duration // of a task's work
	over   map[string]time.Time     // tasks that are completed, and since when
	asked  []tried
}

// hazard is a time in which a runner answers nobody, and how it says so.
type hazard struct {
	from, to time.Duration
	outcome  attempts.Outcome
}

// poison is a task that some runners never answer.
type poison struct {
	runners string        // names, or "" : none
	takes   time.Duration // until that is known
	says    bool          // the model has said something by then
}

// tried is one attempt.
type tried struct {
	task     string
	from, to time.Time
}

func (b *badNight) Prepare(context.Context, engine.Attempt) (string, error) { return "base", nil }

// length is how long an agent works on a task.
func length(task string) time.Duration {
	var n uint64
	_, _ = fmt.Sscanf(task, "T%d", &n)
	return 4*time.Minute + time.Duration(rand.New(rand.NewPCG(n, 1)).Int64N(int64(12*time.Minute)))
}

func (b *badNight) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	b.mu.Lock()
	begin, at := time.Now(), time.Since(b.start)
	takes, f := b.meets(a, at)
	says := takes > 10*time.Second
	if p := b.poison[a.Task.ID]; strings.Contains(p.runners, a.Runner) && f.Outcome == attempts.Success {
		takes, says = p.takes, p.says
		f = engine.Result{Outcome: attempts.Provider, Receipt: attempts.Receipt{ErrorSummary: "no answer"}}
	}
	b.mu.Unlock()
	if says {
		time.Sleep(10 * time.Second) //nolint:forbidigo // fake time
		takes -= 10 * time.Second
		b.hear(engine.Event{Task: a.Task.ID, Runner: a.Runner, Kind: engine.KindActivity, Detail: runners.Event{Kind: runners.EventTool}})
	}
	select {
	case <-ctx.Done():
		f = engine.Result{Outcome: attempts.Stopped}
	case <-time.After(takes):
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked = append(b.asked, tried{a.Task.ID, begin, time.Now()})
	if f.Outcome == attempts.Success {
		b.over[a.Task.ID] = time.Now()
	}
	return f, nil
}

// meets is what an attempt that begins now comes to, and how long it takes.
func (b *badNight) meets(a engine.Attempt, at time.Duration) (time.Duration, engine.Result) {
	left := length(a.Task.ID) - b.done[a.Task.ID]
	for _, h := range b.hazard[a.Runner] {
		if at >= h.to || at+left <= h.from {
			continue
		}
		f := engine.Result{Outcome: h.outcome, Receipt: attempts.Receipt{ErrorSummary: string(h.outcome)}}
		if h.outcome == attempts.Quota {
			f.ResetAt = b.start.Add(h.to)
		}
		works := max(h.from-at, 0)
		if p := b.poison[a.Task.ID]; !strings.Contains(p.runners, a.Runner) {
			b.done[a.Task.ID] += works
		}
		return works + 3*time.Second, f
	}
	return left, engine.Result{Outcome: attempts.Success}
}

// scenery is a random night: its epic, who never answers which task, and when runners answer nobody.
type scenery struct {
	o      Options
	tasks  []string // as YAML
	ids    []string
	deps   map[string][]string
	poison map[string]poison
	hazard map[string][]hazard
}

func randomScenery(seed uint64, hazards bool) *scenery {
	r := rand.New(rand.NewPCG(seed, 7))
	s := &scenery{deps: map[string][]string{}, poison: map[string]poison{}, hazard: map[string][]hazard{}}
	s.o = Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Run:  "20260101T220000Z-0000",
				Jobs: 1 + r.IntN(8),
				Limits: engine.Limits{
					RunLimits: attempts.RunLimits{
						MaxAttempts: 3, MaxUncharged: 20, MaxUnchargedRun: 100, FailedInARow: 5,
						SameError: 3, Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute,
						TaskFaults: 3, OutAfter: 5, OutPeriod: 10 * time.Minute, Patience: 8 * time.Hour,
					},
				},
			},
		},
		Policy: decide.Policy{
			Runners: []string{"claude", "codex"}[:1+r.IntN(2)],
		},
	}
	for i := range 40 + r.IntN(40) {
		id := fmt.Sprintf("T%d", i)
		if i > 0 && r.IntN(4) == 0 {
			s.deps[id] = []string{fmt.Sprintf("T%d", r.IntN(i))}
		}
		s.ids = append(s.ids, id)
		s.tasks = append(s.tasks, fmt.Sprintf("  %s: {title: t, depends_on: [%s]}\n", id, strings.Join(s.deps[id], ", ")))
	}
	for range 1 + r.IntN(2) {
		p := poison{[]string{"claude", "codex", "claude codex"}[r.IntN(3)], 5 * time.Second, false}
		switch r.IntN(3) {
		case 0:
			p.takes, p.says = 2*time.Minute, true // its stream is cut
		case 1:
			p.takes = 5 * time.Minute // no first answer
		}
		s.poison[s.ids[r.IntN(len(s.ids))]] = p
	}
	if !hazards {
		return s
	}
	span := func(longest time.Duration, o attempts.Outcome) hazard {
		from := time.Duration(r.Int64N(int64(4 * time.Hour)))
		return hazard{from, from + time.Minute + time.Duration(r.Int64N(int64(longest))), o}
	}
	for _, name := range s.o.Runners {
		s.hazard[name] = append(s.hazard[name], span(20*time.Minute, attempts.Provider),
			span(time.Hour, attempts.Quota), span(3*time.Minute, attempts.Start))
	}
	if len(s.o.Runners) == 2 {
		lost := span(time.Minute, attempts.Auth)
		lost.to = 1000 * time.Hour
		s.hazard["codex"] = append(s.hazard["codex"], lost)
	}
	return s
}

// tainted reports whether a task is poisoned, or builds on one that is.
func (s *scenery) tainted(id string) bool {
	if _, yes := s.poison[id]; yes {
		return true
	}
	return slices.ContainsFunc(s.deps[id], s.tainted)
}

// play runs the night, without the tainted tasks if so wished, and returns what was done and when the last other one was.
func (s *scenery) play(t *testing.T, pure bool) (b *badNight, makespan time.Duration) {
	t.Helper()
	text := "version: 2\nid: 20260101-bad\ntitle: bad\ntasks:\n"
	for i, id := range s.ids {
		if !pure || !s.tainted(id) {
			text += s.tasks[i]
		}
	}
	e, err := epic.Read("epic.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o := s.o
	o.Epic, o.Graph, o.Dir, o.Run = e, g, memoryDir(t), "20260101T220000Z-0000"
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		b = &badNight{start: time.Now(), hazard: s.hazard, poison: s.poison, done: map[string]time.Duration{}, over: map[string]time.Time{}}
		n := newRun(&o, store, abilities(b))
		b.hear = func(h engine.Event) { n.state.WithLock(func() { n.listener.recordProgress(h) }) }
		n.state.PlanTasks(nil)
		err = n.work(t.Context())
		n.stopForTest(t, t.Context(), err)
		if err != nil && !errors.As(err, new(*decide.NoRunnerError)) || n.limits.Stopped.Reason != "" {
			t.Errorf("the night ended with %v, %+v", err, n.limits.Stopped)
		}
		for i := range e.Tasks {
			id := e.Tasks[i].ID
			if _, done := b.over[id]; !done && !s.tainted(id) {
				t.Errorf("%s was left", id)
			}
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		asRecorded(t, &o)
	})
	for _, id := range s.ids {
		if at := b.over[id].Sub(b.start); !s.tainted(id) && at > makespan {
			makespan = at
		}
	}
	return b, makespan
}

// Whatever runners do in a night, all that somebody could do is done; and tasks that nobody answers cost the others little.
func TestBadNights(t *testing.T) {
	t.Parallel()
	const lanes, each = 8, 6
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			for seed := lane * each; seed < (lane+1)*each && !t.Failed(); seed++ {
				s := randomScenery(seed, seed%3 > 0)
				b, took := s.play(t, false)
				_, alone := s.play(t, true)
				if ratio := took.Seconds() / alone.Seconds(); ratio > 1.25 {
					t.Errorf("seed %d, %d jobs: took %s, and %s without %v: %.2f", seed, s.o.Jobs, took, alone, s.poison, ratio)
				}
				if most := s.refused(b); seed%3 == 0 && len(s.poison) == 1 && most > 4*len(s.o.Runners) {
					t.Errorf("seed %d, %d jobs: a task was refused %d times: %v", seed, s.o.Jobs, most, s.poison)
				}
				if idle := s.idle(b); seed%3 == 0 && idle > 41*time.Second {
					t.Errorf("seed %d, %d jobs: a job was idle for %s while a task was ready: %v", seed, s.o.Jobs, idle, s.poison)
				}
			}
		})
	}
}

// refused is how often the task was asked for that nobody answers, of several the most.
func (s *scenery) refused(b *badNight) (most int) {
	for id := range s.poison {
		times := 0
		for _, a := range b.asked {
			if a.task == id {
				times++
			}
		}
		most = max(most, times)
	}
	return most
}

// idle is the longest time in which a job was free and a task that is not poisoned was ready.
func (s *scenery) idle(b *badNight) (longest time.Duration) {
	edges := []time.Time{b.start}
	for _, a := range b.asked {
		edges = append(edges, a.from, a.to)
	}
	slices.SortFunc(edges, time.Time.Compare)
	since := time.Time{}
	for i := range len(edges) - 1 {
		from, to := edges[i], edges[i+1]
		if !to.After(from) {
			continue
		}
		running, busy := 0, map[string]bool{}
		for _, a := range b.asked {
			if !a.from.After(from) && !a.to.Before(to) {
				running++
				busy[a.task] = true
			}
		}
		if running >= s.o.Jobs || !s.ready(b, busy, from) {
			since = time.Time{}
			continue
		}
		if since.IsZero() {
			since = from
		}
		longest = max(longest, to.Sub(since))
	}
	return longest
}

// ready reports whether a task that is not tainted could be done at a time.
func (s *scenery) ready(b *badNight, busy map[string]bool, at time.Time) bool {
	completed := func(id string) bool { over, done := b.over[id]; return done && !over.After(at) }
	return slices.ContainsFunc(s.ids, func(id string) bool {
		return !s.tainted(id) && !busy[id] && !completed(id) && !slices.ContainsFunc(s.deps[id], func(d string) bool { return !completed(d) })
	})
}
