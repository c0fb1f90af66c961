package orchestrator

import (
	"context"
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
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
)

// providers is an Engine of two CLIs whose providers behave as they do in a long night: a window of five hours with so
// many attempts in it, a wall of overload, a login that is lost, and one agent that hangs.
type providers struct {
	mu     sync.Mutex
	start  time.Time
	rooms  map[string]int // attempts in a window, by runner
	opened map[string]time.Time
	used   map[string]int
	told   map[string]closing // what was said last of a runner's limit
	tries  map[string]int     // attempts that could work, by task
	broken []string
}

// closing is when it was said that a runner is not to be asked before a time.
type closing struct{ said, until time.Time }

const (
	usageWindow = 5 * time.Hour
	wallBegins  = 25 * time.Minute
	wallEnds    = wallBegins + 14*time.Minute
	loginLost   = 6 * time.Hour // of codex
	hanging     = "T7"
)

func (p *providers) Prepare(context.Context, engine.Attempt) (string, error) { return "base", nil }

func (p *providers) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	f, takes := p.asked(a)
	select {
	case <-ctx.Done():
		return engine.Result{Outcome: attempts.Stopped}, nil
	case <-time.After(takes):
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.Outcome == attempts.Quota {
		p.told[a.Runner] = closing{time.Now(), f.ResetAt}
	}
	if f.Outcome == attempts.Auth {
		p.told[a.Runner] = closing{time.Now(), time.Now().Add(5 * time.Second)}
	}
	return f, nil
}

// asked is what a provider answers now, and how long that takes.
func (p *providers) asked(a engine.Attempt) (engine.Result, time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if c := p.told[a.Runner]; c.said.Before(now) && now.Before(c.until) {
		p.broken = append(p.broken, fmt.Sprintf("%s was asked for %s at %s, and is closed until %s", a.Runner, a.Task.ID, now.Sub(p.start), c.until.Sub(p.start)))
	}
	failed := func(o attempts.Outcome, why string) engine.Result {
		return engine.Result{Outcome: o, Receipt: attempts.Receipt{ErrorSummary: why}}
	}
	at := now.Sub(p.start)
	switch {
	case a.Runner == "codex" && at > loginLost:
		return failed(attempts.Auth, "not logged in"), 3 * time.Second
	case at > wallBegins && at < wallEnds:
		return failed(attempts.Provider, "529 overloaded"), 11 * time.Second
	}
	if now.Sub(p.opened[a.Runner]) >= usageWindow {
		p.opened[a.Runner], p.used[a.Runner] = now, 0
	}
	if p.used[a.Runner]++; p.used[a.Runner] > p.rooms[a.Runner] {
		f := failed(attempts.Quota, "usage limit")
		f.ResetAt = p.opened[a.Runner].Add(usageWindow)
		return f, 7 * time.Second
	}
	if p.tries[a.Task.ID]++; a.Task.ID == hanging && p.tries[hanging] == 1 {
		return failed(attempts.Timeout, "the agent fell silent"), 10 * time.Minute
	}
	var n uint64
	_, _ = fmt.Sscanf(a.Task.ID, "T%d", &n)
	return engine.Result{Outcome: attempts.Success}, 7*time.Minute + time.Duration(rand.New(rand.NewPCG(n, 1)).Int64N(int64(13*time.Minute)))
}

// A night of forty tasks, with all that providers do in one and with a relay reload in the middle of it: everything gets
// done, nobody pays for a provider's fault, no runner is asked that is closed, and the log says why anything waited.
func TestLongNight(t *testing.T) {
	t.Parallel()
	for _, jobs := range []int{1, 3} {
		e, err := epic.Read("epic.yml", []byte(sideBySide(40)))
		if err != nil {
			t.Fatal(err)
		}
		g, err := epic.NewGraph(e)
		if err != nil {
			t.Fatal(err)
		}
		dir := memoryDir(t)
		synctest.Test(t, func(t *testing.T) {
			p := &providers{start: time.Now(), rooms: map[string]int{"claude": 9, "codex": 6}, opened: map[string]time.Time{}, used: map[string]int{}, told: map[string]closing{}, tries: map[string]int{}}
			dice := rand.New(rand.NewPCG(1, 2))
			o := Options{
				LocalOptions: engine.LocalOptions{
					Options: engine.Options{
						Epic: e,
						Dir:  dir,
						Jobs: jobs,
						Limits: engine.Limits{
							RunLimits: attempts.RunLimits{
								MaxAttempts: 3, MaxUncharged: 20, Backoff: 30 * time.Second,
								BackoffMax: 15 * time.Minute, MaxUnchargedRun: 100, FailedInARow: 5, SameError: 3,
							},
						},
					},
					Graph: g,
				},
				Policy: decide.Policy{
					Runners: []string{"claude", "codex"},
					Jitter:  func(n time.Duration) time.Duration { return time.Duration(dice.Int64N(int64(n))) },
				},
			}
			drain := make(chan struct{})
			time.AfterFunc(4*time.Hour, func() { close(drain) })
			o.Drain = drain
			part(t, o, p, "20260101T220000Z-0001")
			o.Drain = nil
			part(t, o, p, "20260102T020000Z-0002")
			for _, b := range p.broken {
				t.Error(b)
			}
			judgeLog(t, dir, jobs)
		})
	}
}

// part is one run of a long night.
func part(t *testing.T, o Options, p *providers, run string) {
	t.Helper()
	o.Run = run
	store, err := openedLedger(t, &o)
	if err != nil {
		t.Fatal(err)
	}
	n := newRun(&o, store, abilities(p))
	n.state.PlanTasks(nil)
	err = n.work(t.Context())
	n.stopForTest(t, t.Context(), err)
	if err != nil || n.limits.Stopped.Reason != "" {
		t.Errorf("run %s: %v, %+v", run, err, n.limits.Stopped)
	}
	if by := store.Counts(); o.Drain == nil && by[attempts.Completed] != 40 {
		t.Errorf("got %v, want 40 completed", by)
	}
	for i := range o.Epic.Tasks {
		id := o.Epic.Tasks[i].ID
		want := 0
		if id == hanging && o.Drain == nil {
			want = 1
		}
		if got := store.Task(id).Charges(); o.Drain == nil && got != want {
			t.Errorf("%s was charged %d times, want %d", id, got, want)
		}
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	asRecorded(t, &o)
}

// judgeLog holds the log of a long night against what it must explain.
func judgeLog(t *testing.T, dir string, jobs int) {
	t.Helper()
	var kinds []string
	closed := map[string]time.Time{}
	var idle time.Time // nothing has run since
	var wait *attempts.Waiting
	running, last, note := 0, "", ""
	err := attempts.Replay(dir, func(e attempts.Event) error {
		switch {
		case e.Cooldown != nil:
			kinds = append(kinds, "cooling")
			closed[e.Cooldown.Runner] = e.Cooldown.Until
			if e.Cooldown.Why == "" {
				t.Errorf("event %d closes %s and does not say why", e.Seq, e.Cooldown.Runner)
			}
		case e.Waiting != nil:
			wait = e.Waiting
		case e.Note != nil && e.Note.Kind == "switch":
			note = e.Note.Text
		case e.Started != nil:
			r := e.Started.Runner
			if e.At.Before(closed[r].Truncate(time.Millisecond)) {
				t.Errorf("event %d asks %s, which is closed until %s", e.Seq, r, closed[r])
			}
			if pause := e.At.Sub(idle); running == 0 && !idle.IsZero() && pause > time.Second {
				kinds = append(kinds, "wait")
				if wait == nil || wait.Why == "" || wait.Until.Sub(e.At).Abs() > time.Second || wait.For != r {
					t.Errorf("event %d comes after %s that %+v does not explain", e.Seq, pause, wait)
				}
			}
			if jobs == 1 && r != last && last != "" {
				kinds = append(kinds, "switch")
				if !strings.HasPrefix(note, e.Task+" goes ") || !strings.Contains(note, last+" to "+r+": ") {
					t.Errorf("event %d goes from %s to %s, and the log says %q", e.Seq, last, r, note)
				}
			}
			running, last, wait, note = running+1, r, nil, ""
		case e.RunStopped != nil:
			last = "" // the next run begins with another task
		case e.Ended != nil:
			if running--; running == 0 {
				idle = e.At
			}
			kinds = append(kinds, string(e.Ended.Outcome))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	want := []string{"auth", "cooling", "provider", "quota", "success", "timeout", "wait"}
	if jobs == 1 {
		want = []string{"auth", "cooling", "provider", "quota", "success", "switch", "timeout", "wait"}
	}
	slices.Sort(kinds)
	if got := slices.Compact(slices.Clone(kinds)); !slices.Equal(got, want) {
		t.Errorf("%d jobs: the night had %v, want %v", jobs, got, want)
	}
}
