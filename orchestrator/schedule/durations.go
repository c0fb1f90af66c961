package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/verdict"
)

// durations are the minutes per point that each completed task of an epic has taken, all its attempts together,
// ascending. A task without points counts as one point, as in the critical path.
type durations []float64 // ascending

// taskDurations returns the minutes per point of every completed task.
func taskDurations(e *epic.Epic, l *attempts.Ledger) durations {
	runs := runNames(l)
	var p durations
	for i := range e.Tasks {
		t := &e.Tasks[i]
		if rec := l.Tasks[t.ID]; rec != nil && rec.Completed {
			if took := minutesSpent(rec.Attempts, runs, time.Time{}); took > 0 {
				p = append(p, took/points(t))
			}
		}
	}
	slices.Sort(p)
	return p
}

func points(t *epic.Task) float64 {
	if t.Points == 0 {
		return 1
	}
	return t.Points
}

// runNames lists the names of all runs, sorted. A name begins with the time the run began at.
func runNames(l *attempts.Ledger) []string {
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

// minutesSpent returns the time that attempts have taken, until now for one that is running. An attempt that ended
// under a later run than it began in does not count, because it has waited in between for an unknown time; nor does one
// that was stopped, which says little.
func minutesSpent(all []attempts.Attempt, runs []string, now time.Time) float64 {
	sum := time.Duration(0)
	for i := range all {
		a := &all[i]
		end := a.EndedAt
		switch {
		case a.Result == attempts.ResultInProgress:
			end = now
		case verdict.ClassOf(a.Outcome).Stopped || a.Result == attempts.ResultInterrupted:
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

// The standard deviation of few durations is not known well. It is estimated as if priorTasks more tasks had been seen
// with a usual deviation, in natural logarithms; fewer than minDurations durations are padded.
const (
	priorDeviation = 0.9
	priorTasks     = 8
	minDurations   = 100
)

// mean returns 0 when there are no durations.
func (p durations) mean() float64 {
	sum := 0.0
	for _, v := range p {
		sum += v / float64(len(p))
	}
	return sum
}

// logDistribution returns the mean and the standard deviation of the durations' natural logarithms.
func (p durations) logDistribution() (mean, deviation float64) {
	n, squares := float64(len(p)), priorTasks*priorDeviation*priorDeviation
	for _, v := range p {
		mean += math.Log(v) / n
	}
	for _, v := range p {
		squares += (math.Log(v) - mean) * (math.Log(v) - mean)
	}
	return mean, math.Sqrt(squares / (priorTasks + n - 1))
}

// padded adds more durations around the known ones, as far off as the mean may be: the slowest of a few known tasks is
// hardly the slowest there will be.
func (p durations) padded() durations {
	if len(p) >= minDurations {
		return p
	}
	_, off := p.logDistribution()
	off /= math.Sqrt(float64(len(p)))
	each := (minDurations + len(p) - 1) / len(p)
	q := make(durations, 0, each*len(p))
	for k := range each {
		around := math.Exp(off * math.Sqrt2 * math.Erfinv(2*(float64(k)+0.5)/float64(each)-1))
		for _, v := range p {
			q = append(q, v*around)
		}
	}
	slices.Sort(q)
	return q
}

// spread describes how far the true durations may be from the known ones: few tasks tell neither the mean for sure nor
// how much tasks differ.
type spread struct {
	offsets         []float64 // of each duration from the mean, in natural logarithms
	mean, deviation float64
	samples         float64
}

func (p durations) spread() spread {
	d := spread{samples: float64(len(p))}
	filled := p.padded()
	d.mean, d.deviation = filled.logDistribution()
	for _, v := range filled {
		d.offsets = append(d.offsets, math.Log(v)-d.mean)
	}
	return d
}

// draw draws durations that the known ones could be a sample of, if logarithms of durations are about normal. The
// factor of the deviation comes from a chi-squared distribution, by Wilson and Hilferty's approximation.
func (d *spread) draw(r *rand.Rand) durations {
	free := 2 / (9 * (priorTasks + d.samples - 1))
	wider := math.Pow(max(1-free+math.Sqrt(free)*r.NormFloat64(), 0.1), -1.5)
	mean := d.mean + wider*d.deviation/math.Sqrt(d.samples)*r.NormFloat64()
	p := make(durations, len(d.offsets))
	for k, off := range d.offsets {
		p[k] = math.Exp(mean + wider*off)
	}
	return p
}

// remaining draws how many minutes a task still takes on which `spent` were spent already. It draws from the durations
// that are longer than that; when there are none, the task starts over.
func (p durations) remaining(size, spent float64, at func(n int) int) float64 {
	from := 0
	if spent > 0 {
		from, _ = slices.BinarySearch(p, spent/size)
		if from == len(p) {
			from, spent = 0, 0
		}
	}
	return max(p[from+at(len(p)-from)]*size-spent, 0)
}
