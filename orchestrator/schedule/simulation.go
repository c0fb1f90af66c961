package schedule

import (
	"maps"
	"math"
	"slices"
)

// Slot is the time that a task takes on one of a run's jobs.
type Slot struct {
	Task       int // its number in the graph
	Job        int // from 0
	Start, End float64
}

// simulation says how a schedule, which it uses up, is simulated.
type simulation struct {
	schedule *Schedule
	jobs     int
	running  []int               // tasks under way at the start, possibly more than there are jobs
	duration func(i int) float64 // how long a task takes from its start in the simulation
	onStart  func(Slot)          // called when a task begins
	onEnd    func(i int)         // ends a task that is over
	earliest earliest
}

// earliest holds the times before which no task begins, and none ends. Tasks under way have begun.
type earliest struct{ start, end float64 }

// run simulates the schedule until nothing is left that could start, and returns the time at which that is so.
func (w simulation) run() (now float64) {
	running := make([]Slot, 0, max(w.jobs, len(w.running)))
	begin := func(i int) {
		t := Slot{i, 0, now, max(now+w.duration(i), w.earliest.end)}
		for slices.ContainsFunc(running, func(o Slot) bool { return o.Job == t.Job }) {
			t.Job++
		}
		running = append(running, t)
		w.onStart(t)
	}
	for _, i := range w.running {
		w.schedule.Start(i)
		begin(i)
	}
	for {
		for now >= w.earliest.start && len(running) < w.jobs {
			i := startNext(w.schedule, func(int) bool { return true })
			if i < 0 {
				break
			}
			begin(i)
		}
		then := math.Inf(1)
		if now < w.earliest.start && w.schedule.Ready.Len() > 0 {
			then = w.earliest.start
		}
		for _, t := range running {
			then = min(then, t.End)
		}
		if math.IsInf(then, 1) {
			return now
		}
		now = then
		running = slices.DeleteFunc(running, func(t Slot) bool {
			if t.End <= now {
				w.onEnd(t.Task)
			}
			return t.End <= now
		})
	}
}

// Ending says how an attempt of a simulated run ends.
type Ending uint8

// How attempts end.
const (
	Completes Ending = iota // its task is completed
	Repeats                 // its task is tried again
	Fails                   // its task is gated
)

// Simulate runs a schedule, which it uses up, with so many jobs, and returns the time at which nothing is left that could start. attempt
// is called when a task begins, and returns how long that takes and how it ends.
func Simulate(s *Schedule, jobs int, attempt func(i int) (takes float64, ends Ending)) (makespan float64) {
	endings := make(map[int]Ending)
	return simulation{
		schedule: s, jobs: jobs, onStart: func(Slot) {},
		duration: func(i int) (takes float64) {
			takes, endings[i] = attempt(i)
			return takes
		},
		onEnd: func(i int) {
			switch endings[i] {
			case Repeats:
				s.Requeue(i)
			case Fails:
				s.Gate(i)
			default:
				s.Complete(i)
			}
		},
	}.run()
}

// clone returns a copy that can be simulated without changing s, in the room of one that was. No task may be running.
func clone(s *Schedule, room Schedule) *Schedule {
	c := *s
	c.phase, c.waiting = append(room.phase[:0], s.phase...), append(room.waiting[:0], s.waiting...)
	c.Ready.ready, c.missing = append(room.Ready.ready[:0], s.Ready.ready...), maps.Clone(s.missing)
	c.Failures.tasks = append(room.Failures.tasks[:0], s.Failures.tasks...)
	c.Contention = newContention(s.tasks, maps.Clone(s.Contention.lost))
	return &c
}

// startNext starts the task that Next returns, if there is one, and returns it.
func startNext(s *Schedule, fits func(i int) bool) int {
	i := s.Next(fits)
	if i >= 0 {
		s.Start(i)
	}
	return i
}
