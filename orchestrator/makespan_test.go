package orchestrator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"relay/attempts"
	"relay/epic"
)

// layered makes a random epic in layers, with how long each of its tasks takes. With leases tasks declare files of a few
// folders, in many ways.
type layered struct {
	e     *epic.Epic
	takes map[string]time.Duration
}

// declarations are ways to declare some of the files in universe.
var (
	universe     = []string{"a/1", "a/2", "b/1", "b/2", "c/1", "c/2", "d/1/x", "d/2/x", "e", "e/2"}
	declarations = []string{"a/1", "a/2", "a/*", "b", "b/1", "b/2", "{b,c}/2", "c/**", "c/1", "d/1", "d/?/x", "d/2/x", "e", "*/2", "[ab]/1"}
)

// share reports whether two lists of declared files have one in common, by looking at all there are.
func share(a, b []string) bool {
	covered := func(globs []string, p string) bool {
		return slices.ContainsFunc(globs, func(g string) bool { return epic.Covers(g, p) })
	}
	return slices.ContainsFunc(universe, func(p string) bool { return covered(a, p) && covered(b, p) })
}

// duration is between a second and an hour and a half; how they are spread depends on the kind of epic.
func duration(r *rand.Rand, kind int) time.Duration {
	switch kind {
	case 0: // all alike
		return 10*time.Minute + time.Duration(r.Int64N(int64(10*time.Minute)))
	case 1: // many short ones, few long ones
		return time.Second + time.Duration(min(r.ExpFloat64(), 9)*float64(10*time.Minute))
	}
	if r.IntN(5) == 0 { // either short or long
		return 50*time.Minute + time.Duration(r.Int64N(int64(20*time.Minute)))
	}
	return time.Second + time.Duration(r.Int64N(int64(3*time.Minute)))
}

// newLayered makes an epic whose points, if told, say how long a task takes.
func newLayered(t *testing.T, r *rand.Rand, told, leases bool) layered {
	t.Helper()
	l := layered{takes: map[string]time.Duration{}}
	var b strings.Builder
	b.WriteString("version: 2\nid: 20260101-layers\ntitle: layers\ntasks:\n")
	kind, widest := r.IntN(3), 1+r.IntN(14)
	var before []string
	for layer := range 2 + r.IntN(6) {
		var here []string
		for k := range 1 + r.IntN(widest) {
			id := fmt.Sprintf("L%dT%d", layer, k)
			takes := duration(r, kind)
			fmt.Fprintf(&b, "  %s: {title: t", id)
			if told {
				fmt.Fprintf(&b, ", points: %.9f", takes.Minutes())
			}
			var deps, files []string
			for range min(r.IntN(4), len(before)) {
				if d := before[r.IntN(len(before))]; !slices.Contains(deps, d) {
					deps = append(deps, d)
				}
			}
			for range r.IntN(3) {
				files = append(files, fmt.Sprintf("%q", declarations[r.IntN(len(declarations))]))
			}
			if leases {
				fmt.Fprintf(&b, ", files: [%s]", strings.Join(slices.Compact(files), ", "))
			}
			fmt.Fprintf(&b, ", depends_on: [%s]}\n", strings.Join(deps, ", "))
			here, l.takes[id] = append(here, id), takes
		}
		before = append(before[len(before)/2:], here...)
	}
	e, err := epic.Read("epic.yml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	l.e = e
	return l
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
			} else if !begun && !slices.ContainsFunc(t.DependsOn, func(d string) bool { return !over(d) }) && (best < 0 || way[t.ID] > way[l.e.Tasks[best].ID]) {
				if !slices.ContainsFunc(l.e.Tasks, func(k epic.Task) bool {
					_, begun := ends[k.ID]
					return begun && !over(k.ID) && share(k.Files, t.Files)
				}) {
					best = i
				}
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

func (l trailing) Join(ctx context.Context, waiting []Ready) (Joint, error) {
	select {
	case <-ctx.Done():
		return Joint{}, nil
	case <-time.After(l.takes):
	}
	return Joint{From: "a", To: "b", Results: []Result{waiting[0].Finding}}, nil
}

func (l trailing) Advance(context.Context, Joint) (bool, error) { return true, nil }

// apart watches that no two tasks run at once that declare a file in common.
type apart struct {
	mu      sync.Mutex
	e       *epic.Epic
	running map[string]bool
	faults  []string
	most    int
}

func (a *apart) update(u Update) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if u.Kind != UpdateStarted {
		if u.Kind != UpdateNote && u.Kind != UpdateActivity {
			delete(a.running, u.Task)
		}
		return
	}
	t, _ := a.e.Task(u.Task)
	for id := range a.running {
		if k, _ := a.e.Task(id); share(t.Files, k.Files) {
			a.faults = append(a.faults, fmt.Sprintf("%s %q began while %s %q ran", t.ID, t.Files, id, k.Files))
		}
	}
	a.running[u.Task] = true
	a.most = max(a.most, len(a.running))
}

// sleep runs a night over l in fake time. Landing takes that long; below zero there is no train.
func (l layered) sleep(t *testing.T, jobs int, landing time.Duration, script map[string][]step) (makespan time.Duration, watch *apart) {
	t.Helper()
	g, err := epic.NewGraph(l.e)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Epic: l.e, Graph: g, Dir: memoryDir(t), Run: "20260101T220000Z-0000", Jobs: jobs, Isolation: IsolationWorktree, Runners: []string{"claude"},
		Limits: Limits{MaxAttempts: 3, MaxUncharged: 6, Backoff: 30 * time.Second, BackoffMax: 15 * time.Minute},
	}
	watch = &apart{e: l.e, running: map[string]bool{}}
	o.Notify = watch.update
	synctest.Test(t, func(t *testing.T) {
		store, err := openedLedger(t, &o)
		if err != nil {
			t.Fatal(err)
		}
		s := &simulated{script: map[string][]step{}, start: time.Now()}
		for id, takes := range l.takes {
			s.script[id] = append(script[id], step{takes: takes, outcome: attempts.Success})
		}
		var engine Engine = s
		if landing >= 0 {
			engine = trailing{s, landing}
		}
		n := newNight(&o, store, engine)
		store.View(func(l *attempts.Ledger) { n.plan = newSchedule(o.Epic, g, l, nil).leased(true) })
		if err := n.work(t.Context()); err != nil {
			t.Error(err)
		}
		makespan = time.Since(s.start)
		if by := store.Counts(); by[attempts.Completed] != len(l.e.Tasks) && script == nil {
			t.Errorf("got %v, want all completed", by)
		}
		l.stuck(t, store)
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return makespan, watch
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
			t.Parallel()
			for seed := lane * each; seed < (lane+1)*each && !t.Failed(); seed++ {
				told := seed%4 < 2 // by the points
				l := newLayered(t, rand.New(rand.NewPCG(seed, 2)), told, seed%3 == 0)
				for _, jobs := range []int{2, 4, 8} {
					landing := []time.Duration{-1, 0, time.Second}[seed%5/2] // none, at once, and as it is
					got, watch := l.sleep(t, jobs, landing, nil)
					informed := l.bound(jobs, l.ways(l.seconds))
					want, kind := informed, "durations known"
					if !told {
						want, kind = l.bound(jobs, l.ways(size)), "nothing known"
					}
					mu.Lock()
					name := fmt.Sprintf("%d jobs, %s: to a list scheduler that knows ", jobs, kind)
					worst[name+"as much"] = max(worst[name+"as much"], got.Seconds()/want.Seconds())
					worst[name+"all"] = max(worst[name+"all"], got.Seconds()/informed.Seconds())
					mu.Unlock()
					if got.Seconds() > 1.05*want.Seconds() {
						t.Errorf("seed %d, %d jobs: %s, a list scheduler needs %s", seed, jobs, got, want)
					}
					for _, fault := range watch.faults {
						t.Errorf("seed %d, %d jobs: %s", seed, jobs, fault)
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
	it, err := Outlook{Epic: l.e, Graph: g, Ledger: &attempts.Ledger{}, Jobs: jobs, Leases: true}.Plan()
	if err != nil || math.Abs(it.Makespan-took.Minutes()) > 1e-3 {
		t.Errorf("%d jobs: planned were %.4f minutes (%v), it took %.4f", jobs, it.Makespan, err, took.Minutes())
	}
}
