package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
)

// Estimator estimates how long an epic will still take. Tasks that a gate keeps from running are not counted.
type Estimator struct {
	Epic   *epic.Epic
	Graph  *epic.Graph
	Ledger *attempts.Ledger
	Tasks  []string // only these and what they depend on; empty: all
	Jobs   int
	Now    time.Time // zero: no run is active, and attempts that the ledger has as running were interrupted
	// Opens returns how long it takes until a runner for a task may be asked: nothing begins before the first of them. nil: all may be
	// asked now.
	Opens func(t *epic.Task) time.Duration
	Panel time.Duration // until every reviewer may be asked: no task is completed before
	Until time.Duration // until the deadline of the run; 0: it has none
}

// Forecast records how long it takes until nothing is left that can be done: one of ten such runs is over after P10, half of them after
// P50, nine of ten after P90. It does not know limits that providers have yet to report, nor which tasks will be gated.
type Forecast struct {
	P10, P50, P90 time.Duration

	USD     *[3]float64 // what that costs, in the same way; nil: no completed task has a known cost
	InTime  *[3]int     // tasks that are completed before Until; nil: without one
	BasedOn int         // how many completed tasks of this epic it is computed from
	Tasks   int         // how many can be done
	LeftOut int         // how many cannot: gated, or waiting for a gated one
}

// Timeline holds the order and the times of tasks in a run in which every task takes the average time.
type Timeline struct {
	Slots    []Slot
	Makespan float64
	Chain    float64 // length of the longest chain of dependent tasks: no number of jobs makes the run shorter
	BasedOn  int     // as in Forecast; 0: times are in points instead of minutes
}

// estimate holds what all simulations of an estimator share.
type estimate struct {
	schedule  *Schedule
	room      Schedule // that was simulated last
	jobs      int
	running   []int
	durations durations
	points    []float64 // by task
	spent     []float64 // by task: minutes of the attempt under way, which do not include failed ones
	open      int       // how many tasks are not completed
	earliest  earliest  // in minutes
}

func (o Estimator) prepare() (*estimate, error) {
	wanted, err := Select(o.Graph, o.Tasks)
	if err != nil {
		return nil, err
	}
	n := o.Graph.Len()
	r := &estimate{
		schedule: New(o.Epic, o.Graph, o.Ledger, wanted), jobs: max(o.Jobs, 1),
		durations: taskDurations(o.Epic, o.Ledger), points: make([]float64, n), spent: make([]float64, n),
	}
	runs, opens := runNames(o.Ledger), math.Inf(1)
	for i, t := range r.schedule.tasks {
		if p := r.schedule.phase[i]; p == phaseCompleted || wanted != nil && !wanted[i] {
			continue
		}
		r.open++
		r.points[i] = t.Weight()
		if o.Opens != nil {
			opens = min(opens, o.Opens(t).Minutes())
		}
		if on := o.Ledger.Record(t.ID).Running(); on != nil && !o.Now.IsZero() && r.schedule.phase[i] == phaseReady {
			r.spent[i] = minutesSpent([]attempts.Attempt{*on}, runs, o.Now)
			r.running = append(r.running, i)
		}
	}
	if r.earliest.end = max(o.Panel.Minutes(), 0); !math.IsInf(opens, 1) {
		r.earliest.start = opens
	}
	return r, nil
}

// simulate simulates what is left; draw returns the minutes per point of a task.
func (r *estimate) simulate(draw func() float64, onStart func(Slot)) float64 {
	takes := func(i int) float64 { return remaining(r.points[i], r.spent[i], draw) }
	s := clone(r.schedule, r.room)
	r.room = *s
	return simulation{
		schedule: s, jobs: r.jobs, running: r.running, duration: takes, onStart: onStart, onEnd: s.Complete, earliest: r.earliest,
	}.run()
}

// Bounds of the sampling: more than maxSamples simulations change little, and with fewer than minSamples the 90th
// percentile means nothing. One simulation visits all tasks and dependencies; together they should visit no more than
// samplingWork. Forecast returns nil for a graph of more than maxEdges dependencies, which takes groups of many
// hundreds of tasks.
const (
	maxSamples   = 200
	minSamples   = 10
	samplingWork = 120_000
	maxEdges     = 300_000
)

// Forecast simulates what is left many times, with durations drawn from those of completed tasks. It is deterministic.
// It returns nil when no task is completed yet, or none can be.
func (o Estimator) Forecast() (*Forecast, error) {
	if o.Graph.Edges() > maxEdges {
		return nil, nil
	}
	left, err := o.prepare()
	if err != nil || len(left.durations) == 0 || left.open == 0 {
		return nil, err
	}
	f := &Forecast{BasedOn: len(left.durations)}
	ends := make([]float64, min(max(samplingWork/(o.Graph.Len()+o.Graph.Edges()), minSamples), maxSamples))
	work, inTime := make([]float64, len(ends)), make([]float64, len(ends))
	for k := range ends {
		f.Tasks = 0
		ends[k] = left.simulate(left.durations.drawer(rand.New(rand.NewPCG(1, uint64(k)))), func(s Slot) {
			f.Tasks++
			if work[k] += s.End - s.Start + left.spent[s.Task]; s.End <= o.Until.Minutes() {
				inTime[k]++
			}
		})
	}
	if f.Tasks == 0 {
		return nil, nil
	}
	f.LeftOut = left.open - f.Tasks
	end, minutes, landed := percentiles(ends), percentiles(work), percentiles(inTime)
	f.P10, f.P50, f.P90 = Minutes(end[0]), Minutes(end[1]), Minutes(end[2])
	if price := pricePerMinute(o.Ledger); price > 0 {
		f.USD = &[3]float64{price * minutes[0], price * minutes[1], price * minutes[2]}
	}
	if o.Until > 0 {
		f.InTime = &[3]int{int(landed[0]), int(landed[1]), int(landed[2])}
	}
	return f, nil
}

// percentiles returns what one, five and nine of ten samples do not exceed.
func percentiles(samples []float64) [3]float64 {
	slices.Sort(samples)
	n := len(samples)
	return [3]float64{samples[n/10], samples[n/2], samples[n*9/10]}
}

// maxDuration is returned for anything longer: about a hundred years. A time.Duration cannot hold three hundred.
const maxDuration = 100 * 365 * 24 * time.Hour

// Minutes converts minutes to a duration of at most maxDuration.
func Minutes(n float64) time.Duration {
	return time.Duration(min(n, maxDuration.Minutes()) * float64(time.Minute))
}

// Timeline simulates what is left once, with average durations.
func (o Estimator) Timeline() (*Timeline, error) {
	left, err := o.prepare()
	if err != nil {
		return nil, err
	}
	it := &Timeline{BasedOn: len(left.durations)}
	pace := left.durations.mean()
	if len(left.durations) == 0 { // times are in points: minutes spent or waited for have no meaning
		pace, left.spent, left.earliest = 1, make([]float64, len(left.spent)), earliest{}
	}
	chain := make([]float64, o.Graph.Len())
	it.Makespan = left.simulate(func() float64 { return pace }, func(t Slot) {
		it.Slots = append(it.Slots, t)
		chain[t.Task] = max(chain[t.Task], left.earliest.start) + t.End - t.Start
		it.Chain = max(it.Chain, chain[t.Task])
		for _, d := range o.Graph.Dependants(t.Task) {
			chain[d] = max(chain[d], chain[t.Task])
		}
	})
	return it, nil
}
