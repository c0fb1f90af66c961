package orchestrator

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
)

// pace is how fast the tasks of an epic get done: the minutes that each one that is done has taken for each of its
// points, all its attempts together. A task without points counts as one point, as in the critical path.
type pace []float64 // ascending

// paceOf takes the time of every task that is completed.
func paceOf(e *epic.Epic, l *attempts.Ledger) pace {
	runs := runsOf(l)
	var p pace
	for i := range e.Tasks {
		t := &e.Tasks[i]
		if rec := l.Tasks[t.ID]; rec != nil && rec.Completed {
			if took := minutesOn(rec.Attempts, runs, time.Time{}); took > 0 {
				p = append(p, took/size(t))
			}
		}
	}
	slices.Sort(p)
	return p
}

func size(t *epic.Task) float64 {
	if t.Points == 0 {
		return 1
	}
	return t.Points
}

// runsOf lists the names of all runs, which begin with when they began.
func runsOf(l *attempts.Ledger) []string {
	runs := []string{l.Folded.Run}
	seen := map[string]bool{}
	for _, rec := range l.Tasks {
		for i := range rec.Attempts {
			if run := rec.Attempts[i].Run; !seen[run] {
				seen[run] = true
				runs = append(runs, run)
			}
		}
	}
	slices.Sort(runs)
	return runs
}

// minutesOn is the time that attempts have taken, until now if one is still on. An attempt that ended under a later run
// than it began in has waited for that in between, nobody knows how long; and one that was stopped says little.
func minutesOn(all []attempts.Attempt, runs []string, now time.Time) float64 {
	sum := time.Duration(0)
	for i := range all {
		a := &all[i]
		end := a.EndedAt
		switch {
		case a.Result == attempts.ResultInProgress:
			end = now
		case a.Outcome == attempts.Stopped || a.Result == attempts.ResultInterrupted:
			continue
		}
		if a.StartedAt.IsZero() || !end.After(a.StartedAt) {
			continue
		}
		if k, _ := slices.BinarySearch(runs, a.Run+"\xff"); k < len(runs) && runs[k] <= end.UTC().Format("20060102T150405Z") {
			continue
		}
		sum += end.Sub(a.StartedAt)
	}
	return sum.Minutes()
}

// Of few tasks it is not known how much such tasks differ. Until there are more it goes by a spread that is usual, in
// natural logarithms, as if that had been seen in so many tasks; and a pace of fewer than smallPace tasks is filled up.
const (
	usualSpread = 0.9
	usualTasks  = 8
	smallPace   = 100
)

// mean is 0 when nothing is known.
func (p pace) mean() float64 {
	sum := 0.0
	for _, v := range p {
		sum += v / float64(len(p))
	}
	return sum
}

// spread is how much tasks differ in their pace: a standard deviation in natural logarithms, around a mean.
func (p pace) spread() (mean, deviation float64) {
	n, squares := float64(len(p)), usualTasks*usualSpread*usualSpread
	for _, v := range p {
		mean += math.Log(v) / n
	}
	for _, v := range p {
		squares += (math.Log(v) - mean) * (math.Log(v) - mean)
	}
	return mean, math.Sqrt(squares / (usualTasks + n - 1))
}

// filled puts more times around those of a small pace, as far off as its mean may be: of a few tasks none is the slowest
// there will be.
func (p pace) filled() pace {
	if len(p) >= smallPace {
		return p
	}
	_, off := p.spread()
	off /= math.Sqrt(float64(len(p)))
	each := (smallPace + len(p) - 1) / len(p)
	q := make(pace, 0, each*len(p))
	for k := range each {
		around := math.Exp(off * math.Sqrt2 * math.Erfinv(2*(float64(k)+0.5)/float64(each)-1))
		for _, v := range p {
			q = append(q, v*around)
		}
	}
	slices.Sort(q)
	return q
}

// doubt is what a pace may really be: so many tasks tell neither its mean for sure nor how much such tasks differ.
type doubt struct {
	off             []float64 // of each task from the mean, in natural logarithms
	mean, deviation float64
	known           float64
}

func (p pace) doubt() doubt {
	d := doubt{known: float64(len(p))}
	filled := p.filled()
	d.mean, d.deviation = filled.spread()
	for _, v := range filled {
		d.off = append(d.off, math.Log(v)-d.mean)
	}
	return d
}

// draw draws a pace of which those tasks could be, if logarithms of times are about normal. The factor of the spread is
// from chi squared, by Wilson and Hilferty.
func (d *doubt) draw(r *rand.Rand) pace {
	free := 2 / (9 * (usualTasks + d.known - 1))
	wider := math.Pow(max(1-free+math.Sqrt(free)*r.NormFloat64(), 0.1), -1.5)
	mean := d.mean + wider*d.deviation/math.Sqrt(d.known)*r.NormFloat64()
	p := make(pace, len(d.off))
	for k, off := range d.off {
		p[k] = math.Exp(mean + wider*off)
	}
	return p
}

// rest draws how long a task still takes, in minutes, on which so much was spent already. It is taken from those that took
// longer than that; when there are none, the task begins anew.
func (p pace) rest(size, spent float64, at func(n int) int) float64 {
	from := 0
	if spent > 0 {
		from, _ = slices.BinarySearch(p, spent/size)
		if from == len(p) {
			from, spent = 0, 0
		}
	}
	return max(p[from+at(len(p)-from)]*size-spent, 0)
}
