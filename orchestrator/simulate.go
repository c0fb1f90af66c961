package orchestrator

import (
	"maps"
	"math"
	"slices"
)

// Turn is one task's time on one of a run's jobs.
type Turn struct {
	Task       int // its number in the graph
	Job        int // from 0
	Start, End float64
}

// simulation is what a schedule is carried through with.
type simulation struct {
	jobs  int
	under []int               // tasks that are under way at the start, perhaps more than there are jobs
	takes func(i int) float64 // how long a task takes, or takes still
	told  func(Turn)          // hears of every task when it begins; nil: nobody does
	gates gates
}

// gates are times before which tasks cannot begin, or be done.
type gates struct {
	of    []float64 // by task; nil: none
	at    []float64 // those times, each once, ascending
	panel float64   // no task is done before
}

// shut keeps task i of n from beginning before a time.
func (g *gates) shut(i, n int, until float64) {
	if until <= 0 {
		return
	}
	if g.of == nil {
		g.of = make([]float64, n)
	}
	g.of[i] = until
	if k, known := slices.BinarySearch(g.at, until); !known {
		g.at = slices.Insert(g.at, k, until)
	}
}

// open is when task i may begin.
func (g *gates) open(i int) float64 {
	if g.of == nil {
		return 0
	}
	return g.of[i]
}

// next is when the next gate opens; infinite when none is left.
func (g *gates) next(now float64) float64 {
	for _, t := range g.at {
		if t > now {
			return t
		}
	}
	return math.Inf(1)
}

// simulate carries the schedule through to where nothing is left that could start, and returns when that is.
func (s *schedule) simulate(w simulation) (now float64) {
	running := make([]Turn, 0, max(w.jobs, len(w.under)))
	begin := func(i int) {
		t := Turn{i, 0, now, max(now+w.takes(i), w.gates.panel)}
		for slices.ContainsFunc(running, func(o Turn) bool { return o.Job == t.Job }) {
			t.Job++
		}
		running = append(running, t)
		if w.told != nil {
			w.told(t)
		}
	}
	for _, i := range w.under {
		s.begun(i)
		begin(i)
	}
	for {
		for len(running) < w.jobs {
			i := s.next(func(i int) bool { return w.gates.open(i) <= now })
			if i < 0 {
				break
			}
			begin(i)
		}
		then := math.Inf(1)
		if len(running) < w.jobs && s.ready.Len() > 0 {
			then = w.gates.next(now)
		}
		for _, t := range running {
			then = min(then, t.End)
		}
		if math.IsInf(then, 1) {
			return now
		}
		now = then
		running = slices.DeleteFunc(running, func(t Turn) bool {
			if t.End <= now {
				s.completed(t.Task)
			}
			return t.End <= now
		})
	}
}

// copied is a schedule that can be carried through without this one. Nothing may be running.
func (s *schedule) copied() *schedule {
	c := *s
	c.phase, c.waiting, c.ready.set = slices.Clone(s.phase), slices.Clone(s.waiting), slices.Clone(s.ready.set)
	c.leases, c.awaits = s.leases.anew(), maps.Clone(s.awaits)
	return &c
}
