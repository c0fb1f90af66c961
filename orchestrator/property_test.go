package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
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

// chance is an Engine whose attempts end as a seed says, whatever order they run in, and that watches the rules of the
// night while they do.
type chance struct {
	seed    uint64
	e       *epic.Epic
	jobs    int
	start   time.Time
	cancel  context.CancelCauseFunc
	stopAt  time.Duration // 0: never
	mu      sync.Mutex
	running map[string]bool
	done    map[string]bool
	tries   map[string]int
	closed  map[string]time.Time // runner: not to be asked before
	log     []string
	broken  []string
	asked   bool // a person asks things of the run
}

func (c *chance) Prepare(context.Context, engine.Attempt) (string, error) { return "base", nil }

// roll is a source that depends on the attempt alone.
func (c *chance) roll(task string, attempt int) *rand.Rand {
	h := uint64(attempt)
	for _, b := range []byte(task) {
		h = h*131 + uint64(b)
	}
	return rand.New(rand.NewPCG(c.seed, h))
}

func (c *chance) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	c.begin(a)
	r := c.roll(a.Task.ID, a.Number)
	select {
	case <-ctx.Done():
		return c.end(a, engine.Result{Outcome: attempts.Stopped}), nil
	case <-time.After(time.Duration(1 + r.Int64N(int64(time.Hour)))):
	}
	f := engine.Result{Receipt: attempts.Receipt{ErrorSummary: fmt.Sprintf("error %c", 'a'+rune(r.IntN(5)))}}
	switch n := r.IntN(100); {
	case n < 55:
		f.Outcome = attempts.Success
	case n < 75:
		f.Outcome = []attempts.Outcome{attempts.Agent, attempts.Check, attempts.Review, attempts.Timeout}[n%4]
	case n < 83:
		f.Outcome, f.ResetAt = attempts.Quota, time.Now().Add(time.Duration(r.Int64N(int64(6*time.Hour))))
	case n < 93:
		f.Outcome = attempts.Provider
	case n < 96:
		f.Outcome = attempts.Environment
	case n < 98:
		f.Outcome = []attempts.Outcome{attempts.Auth, attempts.Start}[n%2]
	default:
		f.Outcome = attempts.Tamper
	}
	return c.end(a, f), nil
}

func (c *chance) begin(a engine.Attempt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.log = append(c.log, fmt.Sprintf("%20d %s/%d %s", now.Sub(c.start), a.Task.ID, a.Number, a.Runner))
	for _, d := range a.Task.DependsOn {
		if !c.done[d] {
			c.breaks("%s began before %s was completed", a.Task.ID, d)
		}
	}
	if c.done[a.Task.ID] || c.running[a.Task.ID] {
		c.breaks("%s began again", a.Task.ID)
	}
	if now.Before(c.closed[a.Runner]) && !c.asked {
		c.breaks("%s was asked %s before it was open", a.Runner, c.closed[a.Runner].Sub(now))
	}
	if a.Task.Runner != "" && a.Runner != a.Task.Runner {
		c.breaks("%s wants %s and got %s", a.Task.ID, a.Task.Runner, a.Runner)
	}
	c.running[a.Task.ID] = true
	if len(c.running) > c.jobs {
		c.breaks("%d attempts at once", len(c.running))
	}
}

func (c *chance) end(a engine.Attempt, f engine.Result) engine.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, a.Task.ID)
	c.done[a.Task.ID] = f.Outcome == attempts.Success
	if f.Outcome.Charged() {
		c.tries[a.Task.ID]++
	}
	until := time.Time{}
	if f.ResetAt.After(time.Now()) {
		until = f.ResetAt
	}
	if until.After(c.closed[a.Runner]) {
		c.closed[a.Runner] = until
	}
	if c.stopAt > 0 && time.Since(c.start) > c.stopAt {
		c.cancel(ErrInterrupted)
	}
	return f
}

func (c *chance) breaks(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

// randomEpic has up to a dozen tasks; dependencies lead to earlier ones.
func randomEpic(t *testing.T, r *rand.Rand) *epic.Epic {
	t.Helper()
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-chance\ntitle: chance\ntasks:\n")
	for i := range 1 + r.IntN(12) {
		fmt.Fprintf(&b, "  T%d: {title: t, priority: p%d, points: %d", i, r.IntN(4), r.IntN(9))
		if r.IntN(3) == 0 {
			fmt.Fprintf(&b, ", max_attempts: %d", 1+r.IntN(4))
		}
		if r.IntN(6) == 0 {
			fmt.Fprintf(&b, ", runner: %s", []string{"codex", "gemini"}[r.IntN(2)])
		}
		var deps, files []string
		for range r.IntN(3) {
			files = append(files, []string{"a/1", `"a/*"`, "b", `"d/?/x"`}[r.IntN(4)])
		}
		fmt.Fprintf(&b, ", files: [%s]", strings.Join(files, ", "))
		for d := range i {
			if r.IntN(5) == 0 {
				deps = append(deps, fmt.Sprintf("T%d", d))
			}
		}
		fmt.Fprintf(&b, ", depends_on: [%s]}\n", strings.Join(deps, ", "))
	}
	e, err := epic.Read("epic.yml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// memoryDir is a folder on a file system in memory where there is one: thousands of events are written durably here, and
// what is tested is not the disk.
func memoryDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "relay") //nolint:usetesting // t.TempDir is on a disk
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// gamble runs one night and returns what was decided, in the order of time.
func gamble(t *testing.T, seed uint64) (log []string) {
	t.Helper()
	return gambleWith(t, seed, nil)
}

// gambleWith is gamble for a night in which a person asks things of the run.
func gambleWith(t *testing.T, seed uint64, person func(t *testing.T, c *chance, n *run) (over func())) (log []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	e := randomEpic(t, r)
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic:      e,
				Dir:       memoryDir(t),
				Run:       "20260101T220000Z-0000",
				Jobs:      1 + r.IntN(4),
				Isolation: engine.IsolationWorktree,
				Limits: engine.Limits{
					RunLimits: attempts.RunLimits{MaxAttempts: 3, MaxUncharged: 6, Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute},
				},
			},
			Graph: g,
		},
		Policy: decide.Policy{
			Runners: []string{"claude", "codex"}[:1+r.IntN(2)],
		},
	}
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c := &chance{
			seed: seed, e: e, jobs: o.Jobs, start: time.Now(), cancel: cancel,
			running: map[string]bool{}, done: map[string]bool{}, tries: map[string]int{}, closed: map[string]time.Time{},
		}
		if r.IntN(4) == 0 {
			c.stopAt = time.Duration(r.Int64N(int64(5 * time.Hour)))
		}
		n := newRun(&o, store, abilities(c))
		n.state.PlanTasks(nil)
		gone := func() {}
		if person != nil {
			gone = person(t, c, n)
		}
		for again := true; again && err == nil && ctx.Err() == nil; again = n.goesOn(false) {
			err = n.work(ctx)
		}
		gone()
		n.stopForTest(t, ctx, err)
		c.judge(t, n, ctx.Err() != nil, err)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		asRecorded(t, &o)
		slices.Sort(c.log)
		log = c.log
	})
	return log
}

// judge looks at what is left of a night.
func (c *chance) judge(t *testing.T, n *run, stopped bool, err error) {
	t.Helper()
	for _, b := range c.broken {
		t.Errorf("seed %d: %s", c.seed, b)
	}
	if err != nil && !errors.As(err, new(*decide.NoRunnerError)) {
		t.Errorf("seed %d: %v", c.seed, err)
	}
	if by := n.state.store.Counts(); by[attempts.InProgress] != 0 || len(c.running) != 0 {
		t.Errorf("seed %d: still running: %v", c.seed, by)
	}
	for i := range c.e.Tasks {
		task := &c.e.Tasks[i]
		rec := n.state.store.Task(task.ID)
		if most := n.state.o.Limits.AttemptsFor(task) + 1; rec.Charges() > most || c.tries[task.ID] > most && !c.asked {
			t.Errorf("seed %d: %s was charged %d times of %d", c.seed, task.ID, rec.Charges(), most)
		}
		if stopped || rec.Completed || rec.Gate != nil || c.explained(n, task) {
			continue
		}
		t.Errorf("seed %d: %s was left without a reason (%v)", c.seed, task.ID, err)
	}
}

// explained reports that a task was left because of a gate or because its runners are out, its own or those of what it
// waits for.
func (c *chance) explained(n *run, task *epic.Task) bool {
	ready := true
	for _, id := range task.DependsOn {
		rec := n.state.store.Task(id)
		if rec.Completed {
			continue
		}
		ready = false
		d, _ := c.e.Task(id)
		if rec.Gate != nil || c.explained(n, d) {
			return true
		}
	}
	index, _ := n.state.o.Graph.Index(task.ID)
	_, hopeless := n.state.Pool.Hopeless(task.Runner, n.state.Pool.Panel, n.state.Instant())
	return ready && (hopeless || n.state.Withheld[index])
}

func TestRandomNights(t *testing.T) {
	t.Parallel()
	const lanes, each = 16, 20
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			t.Parallel()
			for seed := lane * each; seed < (lane+1)*each && !t.Failed(); seed++ {
				got := gamble(t, seed)
				if seed%each != 0 {
					continue
				}
				if again := gamble(t, seed); !slices.Equal(got, again) {
					t.Errorf("seed %d decides one way\n%s\nand then another\n%s", seed, strings.Join(got, "\n"), strings.Join(again, "\n"))
				}
			}
		})
	}
}
