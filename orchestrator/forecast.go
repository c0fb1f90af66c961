package orchestrator

import (
	"math/rand/v2"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
)

// Outlook is an epic as it stands, for those who want to know what is still to come. What a gate keeps from running is no
// part of that.
type Outlook struct {
	Epic   *epic.Epic
	Graph  *epic.Graph
	Ledger *attempts.Ledger
	Tasks  []string // only these and what they depend on; empty: all
	Jobs   int
	Leases bool      // tasks that declare the same files do not run at once
	Now    time.Time // of a run that is on; zero: there is none, and what the ledger has as running was interrupted
	// Opens is how long it takes until a runner for a task may be asked; nil: everyone may be at once.
	Opens func(t *epic.Task) time.Duration
	Panel time.Duration // until every reviewer may be asked: before that no task gets done
}

// Forecast says how long it takes until nothing is left that can be done: half of all nights like this one are over after
// P50, nine of ten after P90. It knows nothing of limits that providers have yet to name, nor of tasks that will be gated.
type Forecast struct {
	P50, P90 time.Duration
	BasedOn  int // tasks of this epic that are done, by whose times it goes
	Tasks    int // that can be done
	LeftOut  int // that cannot: they are gated, or wait for one that is
}

// Itinerary is what a run would do in which order, if every task took as long as they do on average.
type Itinerary struct {
	Turns    []Turn
	Makespan float64
	Chain    float64 // the heaviest chain of tasks that wait for each other: with any number of jobs it takes this long
	BasedOn  int     // as in Forecast; 0: none is done, and times are in points instead of minutes
	LeftOut  int
}

// remains is an outlook with everything worked out that all simulations of it share.
type remains struct {
	plan  *schedule
	jobs  int
	under []int
	pace  pace
	size  []float64 // points
	spent []float64 // minutes of the attempt that is on: after one that failed comes a whole new one
	open  int       // tasks that are not done
	gates gates     // in minutes
}

func (o Outlook) remains() (*remains, error) {
	wanted, err := selection(o.Graph, o.Tasks)
	if err != nil {
		return nil, err
	}
	n := o.Graph.Len()
	r := &remains{
		plan: newSchedule(o.Epic, o.Graph, o.Ledger, wanted).leased(o.Leases), jobs: max(o.Jobs, 1),
		pace: paceOf(o.Epic, o.Ledger), size: make([]float64, n), spent: make([]float64, n),
	}
	runs := runsOf(o.Ledger)
	for i, t := range r.plan.tasks {
		if p := r.plan.phase[i]; p == phaseCompleted || wanted != nil && !wanted[i] {
			continue
		}
		r.open++
		r.size[i] = size(t)
		if o.Opens != nil {
			r.gates.shut(i, n, o.Opens(t).Minutes())
		}
		rec := o.Ledger.Tasks[t.ID]
		if rec == nil || o.Now.IsZero() {
			continue
		}
		if on := rec.Running(); on != nil && r.plan.phase[i] == phaseReady {
			r.spent[i] = minutesOn([]attempts.Attempt{*on}, runs, o.Now)
			r.under = append(r.under, i)
		}
	}
	r.gates.panel = max(o.Panel.Minutes(), 0)
	return r, nil
}

// run simulates what is left, with tasks that take as long as at chooses from a pace.
func (r *remains) run(p pace, at func(n int) int, told func(Turn)) float64 {
	takes := func(i int) float64 { return p.rest(r.size[i], r.spent[i], at) }
	return r.plan.copied().simulate(simulation{r.jobs, r.under, takes, told, r.gates})
}

// Bounds of the sampling: more simulations than mostSamples change little, and with fewer than leastSamples nine of ten
// means nothing. One goes through all tasks and dependencies, and together they should go through no more than
// samplingWork. With more than mostEdges dependencies, which takes groups of many hundreds, there is no forecast.
const (
	mostSamples  = 200
	leastSamples = 10
	samplingWork = 120_000
	mostEdges    = 300_000
)

// Forecast simulates what is left many times over, with times drawn from those that tasks of this epic have taken. The
// same outlook always gives the same forecast. It is nil when no task is done yet, or none can be.
func (o Outlook) Forecast() (*Forecast, error) {
	if o.Graph.Edges() > mostEdges {
		return nil, nil
	}
	left, err := o.remains()
	if err != nil || len(left.pace) == 0 || left.open == 0 {
		return nil, err
	}
	f := &Forecast{BasedOn: len(left.pace)}
	doubt := left.pace.doubt()
	ends := make([]float64, min(max(samplingWork/(o.Graph.Len()+o.Graph.Edges()), leastSamples), mostSamples))
	for k := range ends {
		r := rand.New(rand.NewPCG(1, uint64(k)))
		f.Tasks = 0
		ends[k] = left.run(doubt.draw(r), func(n int) int { f.Tasks++; return r.IntN(n) }, nil)
	}
	if f.Tasks == 0 {
		return nil, nil
	}
	f.LeftOut = left.open - f.Tasks
	slices.Sort(ends)
	f.P50, f.P90 = Minutes(ends[len(ends)/2]), Minutes(ends[len(ends)*9/10])
	return f, nil
}

// longest is what is told of anything that takes longer: about a hundred years, and no time.Duration holds three hundred.
const longest = 100 * 365 * 24 * time.Hour

// Minutes is so many minutes, as far as they can be told.
func Minutes(n float64) time.Duration {
	return time.Duration(min(n, longest.Minutes()) * float64(time.Minute))
}

// Plan tells in which order a run would do what is left.
func (o Outlook) Plan() (*Itinerary, error) {
	left, err := o.remains()
	if err != nil {
		return nil, err
	}
	it := &Itinerary{BasedOn: len(left.pace)}
	p := pace{left.pace.mean()}
	if len(left.pace) == 0 { // points are no time that anything could be taken from, or waited for
		p, left.spent, left.gates = pace{1}, make([]float64, len(left.spent)), gates{}
	}
	chain := make([]float64, o.Graph.Len())
	it.Makespan = left.run(p, func(int) int { return 0 }, func(t Turn) {
		it.Turns = append(it.Turns, t)
		chain[t.Task] = max(chain[t.Task], left.gates.open(t.Task)) + t.End - t.Start
		it.Chain = max(it.Chain, chain[t.Task])
		for _, d := range o.Graph.Dependants(t.Task) {
			chain[d] = max(chain[d], chain[t.Task])
		}
	})
	it.LeftOut = left.open - len(it.Turns)
	return it, nil
}
