package orchestrator

import (
	"context"
	"fmt"
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

// contending is simulated with a train in which every task changes one file that none declares: what began before the
// last landing does not land.
type contending struct {
	*simulated
	slower time.Duration // what a further attempt takes longer

	mu     sync.Mutex
	landed int
}

func (c *contending) tip() string { return fmt.Sprint(c.landed) }

func (c *contending) Prepare(context.Context, engine.Attempt) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tip(), nil
}

func (c *contending) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	f, err := c.simulated.Run(ctx, a)
	if a.Number > 1 {
		<-time.After(c.slower)
	}
	f.Receipt.FilesChanged = []string{"CHANGELOG", "own/" + a.Task.ID}
	return f, err
}

func (c *contending) Join(_ context.Context, waiting []engine.Verified) (engine.Step, error) {
	<-time.After(time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	f, from := waiting[0].Result, c.tip()
	if waiting[0].Attempt.Base == from {
		return engine.Step{From: from, To: from + "+", Results: []engine.Result{f}}, nil
	}
	f.Fail(attempts.Conflict, attempts.Conflicted, "conflict in CHANGELOG")
	f.Receipt.Contested = []string{"CHANGELOG"}
	return engine.Step{From: from, To: from, Results: []engine.Result{f}}, nil
}

func (c *contending) Advance(_ context.Context, j engine.Step) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if j.To != j.From {
		c.landed++
	}
	return true, nil
}

// trained has a night of eight jobs, with a train and leases, in fake time.
func trained(t *testing.T, text string, night func(t *testing.T, run func(engine.Engine) *attempts.Store)) {
	t.Helper()
	o := Options{LocalOptions: engine.LocalOptions{Options: engine.Options{Dir: memoryDir(t), Run: "20260101T220000Z-0000", Jobs: 8, Isolation: engine.IsolationWorktree}}, Policy: decide.Policy{Runners: []string{"claude"}}}
	o.Limits = engine.Limits{RunLimits: attempts.RunLimits{MaxAttempts: 3, MaxUncharged: 6, FailedInARow: 5, SameError: 3}}
	e, err := epic.Read("epic.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	g, err := epic.NewGraph(e)
	if err != nil {
		t.Fatal(err)
	}
	o.Epic, o.Graph = e, g
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		night(t, func(engine engine.Engine) *attempts.Store {
			n := newRun(&o, store, abilities(engine))
			n.state.PlanTasks(nil)
			gone := func() {}
			if asked, ok := engine.(interface {
				person(t *testing.T, n *run) (over func())
			}); ok {
				gone = asked.person(t, n)
			}
			err := n.work(t.Context())
			gone()
			n.stopForTest(t, t.Context(), err)
			if err != nil || n.limits.Stopped.Reason != "" {
				t.Errorf("the night ended: %v, %+v", err, n.limits.Stopped)
			}
			return store
		})
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		asRecorded(t, &o)
	})
}

// Tasks that all change one file without saying so are in each other's way once: from then on they go one after the
// other, and nobody who is quicker lands before them again.
func TestTrainIsFair(t *testing.T) {
	t.Parallel()
	for _, n := range []int{4, 20, 60} {
		trained(t, sideBySide(n), func(t *testing.T, run func(engine.Engine) *attempts.Store) {
			t.Helper()
			store := run(&contending{simulated: &simulated{script: map[string][]step{}, start: time.Now()}, slower: 3 * time.Minute})
			for i := range n {
				id := fmt.Sprintf("T%d", i+1)
				if rec := store.Task(id); !rec.Completed || len(rec.Attempts) > 2 {
					t.Errorf("%d tasks: %s is completed: %v, after %d attempts", n, id, rec.Completed, len(rec.Attempts))
				}
			}
		})
	}
}

// queueing is simulated with a train that is slower than the tasks, and checks that take as long, so that all that waits lands at once.
type queueing struct {
	*simulated
	landed []string // of each step
}

func (q *queueing) Run(ctx context.Context, a engine.Attempt) (engine.Result, error) {
	f, err := q.simulated.Run(ctx, a)
	f.Receipt.Checks = []attempts.CheckRun{{Name: "suite", Seconds: 600}}
	return f, err
}

func (q *queueing) Join(_ context.Context, group []engine.Verified) (engine.Step, error) {
	<-time.After(10 * time.Minute)
	j := engine.Step{From: "a", To: "b"}
	var ids []string
	for _, r := range group {
		j.Results, ids = append(j.Results, r.Result), append(ids, r.Attempt.Task.ID)
	}
	q.landed = append(q.landed, strings.Join(ids, " "))
	return j, nil
}

func (q *queueing) Advance(context.Context, engine.Step) (bool, error) { return true, nil }

// What waits lands in the order it became ready, and nothing of it twice.
func TestTrainOrder(t *testing.T) {
	t.Parallel()
	trained(t, sideBySide(6), func(t *testing.T, run func(engine.Engine) *attempts.Store) {
		t.Helper()
		q := &queueing{simulated: &simulated{script: map[string][]step{}, start: time.Now()}}
		for i, minutes := range []time.Duration{4, 6, 1, 5, 3, 2} {
			q.script[fmt.Sprintf("T%d", i+1)] = []step{{takes: minutes * time.Minute, outcome: attempts.Success}}
		}
		run(q)
		if want := []string{"T3", "T6 T5 T1 T4 T2"}; !slices.Equal(q.landed, want) {
			t.Errorf("landed are %q, want %q", q.landed, want)
		}
	})
}
