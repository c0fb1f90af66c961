package orchestrator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/epic/slowtest"
	"relay/orchestrator/decide"
	"relay/orchestrator/engine"
	"relay/orchestrator/schedule"
	"relay/orchestrator/schedule/scheduletest"
)

// layered is a random epic, and how long each of its tasks takes.
type layered struct {
	e     *epic.Epic
	takes map[string]time.Duration
}

func newLayered(t *testing.T, r *rand.Rand, points bool) layered {
	t.Helper()
	e, takes := scheduletest.Layered(t, r, points)
	return layered{e, takes}
}

func pointsOf(t *epic.Task) float64 {
	if t.Points == 0 {
		return 1
	}
	return t.Points
}

// ways is the longest way from each task to an end, when each takes that long.
func (l layered) ways(takes func(t *epic.Task) float64) map[string]float64 {
	way := map[string]float64{}
	for _, t := range slices.Backward(l.e.Tasks) { // dependencies lead back
		longest := 0.0
		for _, d := range l.e.Tasks {
			if slices.Contains(d.DependsOn, t.ID) {
				longest = max(longest, way[d.ID])
			}
		}
		way[t.ID] = longest + takes(&t)
	}
	return way
}

func (l layered) seconds(t *epic.Task) float64 { return l.takes[t.ID].Seconds() }

// bound is what a list scheduler makes of the epic: whenever one of its jobs is free, that takes the ready task with the
// longest way to an end.
func (l layered) bound(jobs int, way map[string]float64) (makespan time.Duration) {
	now, ends := time.Duration(0), map[string]time.Duration{} // of all that began
	over := func(id string) bool { end, begun := ends[id]; return begun && end <= now }
	for len(ends) < len(l.e.Tasks) || now < makespan {
		var running []epic.Task
		best := -1
		for i, t := range l.e.Tasks {
			if _, begun := ends[t.ID]; begun && !over(t.ID) {
				running = append(running, t)
			} else if !begun && !slices.ContainsFunc(t.DependsOn, func(d string) bool { return !over(d) }) &&
				(best < 0 || way[t.ID] > way[l.e.Tasks[best].ID]) {
				best = i
			}
		}
		if best >= 0 && len(running) < jobs {
			t := l.e.Tasks[best]
			ends[t.ID] = now + l.takes[t.ID]
			makespan = max(makespan, ends[t.ID])
			continue
		}
		next := makespan
		for _, t := range running {
			next = min(next, ends[t.ID])
		}
		now = next
	}
	return makespan
}

// trailing is simulated with a train: each attempt's work lands a while after it is done.
type trailing struct {
	*simulated
	takes time.Duration
}

func (l trailing) Join(ctx context.Context, waiting []engine.Verified) (engine.Step, error) {
	select {
	case <-ctx.Done():
		return engine.Step{}, nil
	case <-time.After(l.takes):
	}
	return engine.Step{From: "a", To: "b", Results: []engine.Result{waiting[0].Result}}, nil
}

func (l trailing) Advance(context.Context, engine.Step) (bool, error) { return true, nil }

// sleep runs a night over l in fake time. Landing takes that long; below zero there is no train.
func (l layered) sleep(t *testing.T, jobs int, landing time.Duration, script map[string][]step) (makespan time.Duration) {
	t.Helper()
	return l.sleepIn(t, memoryDir(t), jobs, landing, script)
}

// nightIn is sleep without a script, and returns the folder of its log.
func (l layered) nightIn(t *testing.T, jobs int, landing time.Duration) (dir string) {
	t.Helper()
	dir = memoryDir(t)
	l.sleepIn(t, dir, jobs, landing, nil)
	return dir
}

func (l layered) sleepIn(
	t *testing.T, dir string, jobs int, landing time.Duration, script map[string][]step,
) (makespan time.Duration) {
	t.Helper()
	return l.sleepWith(t, night{dir: dir, jobs: jobs, script: script}, func(s *simulated) engine.Engine {
		if landing < 0 {
			return s
		}
		return trailing{s, landing}
	})
}

// night is how a night is gone through.
type night struct {
	dir    string
	jobs   int
	script map[string][]step // before each task succeeds
}

// sleepWith is sleep with an engine of simulated attempts.
func (l layered) sleepWith(t *testing.T, n night, with func(s *simulated) engine.Engine) (makespan time.Duration) {
	t.Helper()
	g, err := epic.NewGraph(l.e)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		LocalOptions: engine.LocalOptions{
			Options: engine.Options{
				Epic:      l.e,
				Dir:       n.dir,
				Run:       "20260101T220000Z-0000",
				Jobs:      n.jobs,
				Isolation: engine.IsolationWorktree,
				Limits: engine.Limits{
					RunLimits: attempts.RunLimits{MaxAttempts: 3, MaxUncharged: 6, Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute},
				},
			},
			Graph: g,
		},
		Policy: decide.Policy{
			Runners: []string{"claude"},
		},
	}
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		s := &simulated{script: map[string][]step{}, start: time.Now()}
		for id, takes := range l.takes {
			s.script[id] = append(n.script[id], step{takes: takes, outcome: attempts.Success})
		}
		r := newRun(&o, store, abilities(with(s)))
		r.state.PlanTasks(nil)
		err = r.work(t.Context())
		if err != nil {
			t.Error(err)
		}
		makespan = time.Since(s.start)
		r.stopForTest(t, t.Context(), err)
		if by := store.Counts(); by[attempts.Completed] != len(l.e.Tasks) && n.script == nil {
			t.Errorf("got %v, want all completed", by)
		}
		l.stuck(t, store)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		asRecorded(t, &o)
	})
	return makespan
}

// A night takes no longer than a list scheduler needs that goes by the critical path, to within 5 %: one that knows how
// long tasks take when the points say so, else one that knows the points.
func TestMakespan(t *testing.T) {
	t.Parallel()
	const lanes, each = 16, 12
	var mu sync.Mutex
	worst := map[string]float64{}
	t.Cleanup(func() { t.Logf("worst makespan, as a ratio: %v", worst) })
	for lane := range uint64(lanes) {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			slowtest.OneIn(t, 4)
			t.Parallel()
			for seed := lane * each; seed < (lane+1)*each && !t.Failed(); seed++ {
				told := seed%4 < 2 // by the points
				l := newLayered(t, rand.New(rand.NewPCG(seed, 2)), told)
				for _, jobs := range []int{2, 4, 8} {
					landing := []time.Duration{-1, 0, time.Second}[seed%5/2] // none, at once, and as it is
					got := l.sleep(t, jobs, landing, nil)
					informed := l.bound(jobs, l.ways(l.seconds))
					want, kind := informed, "durations known"
					if !told {
						want, kind = l.bound(jobs, l.ways(pointsOf)), "nothing known"
					}
					mu.Lock()
					name := fmt.Sprintf("%d jobs, %s: to a list scheduler that knows ", jobs, kind)
					worst[name+"as much"] = max(worst[name+"as much"], got.Seconds()/want.Seconds())
					worst[name+"all"] = max(worst[name+"all"], got.Seconds()/informed.Seconds())
					mu.Unlock()
					if got.Seconds() > 1.05*want.Seconds() {
						t.Errorf("seed %d, %d jobs: %s, a list scheduler needs %s", seed, jobs, got, want)
					}
					if told && landing <= 0 {
						l.foreseen(t, jobs, got)
					}
				}
			}
		})
	}
}

// stuck tells of tasks that were left although nothing keeps them from being done.
func (l layered) stuck(t *testing.T, store *attempts.Store) {
	t.Helper()
	lost := map[string]bool{}
	for _, task := range l.e.Tasks {
		rec := store.Task(task.ID)
		lost[task.ID] = rec.Gate != nil || slices.ContainsFunc(task.DependsOn, func(d string) bool { return lost[d] })
		if !rec.Completed && !lost[task.ID] {
			t.Errorf("%s was left", task.ID)
		}
	}
}

// foreseen compares how long a night took with what was planned for it.
func (l layered) foreseen(t *testing.T, jobs int, took time.Duration) {
	t.Helper()
	g, err := epic.NewGraph(l.e)
	if err != nil {
		t.Fatal(err)
	}
	it, err := schedule.Estimator{Epic: l.e, Graph: g, Ledger: &attempts.Ledger{}, Jobs: jobs}.Timeline()
	if err != nil || math.Abs(it.Makespan-took.Minutes()) > 1e-3 {
		t.Errorf("%d jobs: planned were %.4f minutes (%v), it took %.4f", jobs, it.Makespan, err, took.Minutes())
	}
}
