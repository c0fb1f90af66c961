package orchestrator

import (
	"maps"
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
}

// simulate carries the schedule through to where nothing is left that could start, and returns when that is.
func (s *schedule) simulate(w simulation) (now float64) {
	running := make([]Turn, 0, max(w.jobs, len(w.under)))
	begin := func(i int) {
		t := Turn{i, 0, now, now + w.takes(i)}
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
			i := s.next(func(int) bool { return true })
			if i < 0 {
				break
			}
			begin(i)
		}
		if len(running) == 0 {
			return now
		}
		now = running[0].End
		for _, t := range running {
			now = min(now, t.End)
		}
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
