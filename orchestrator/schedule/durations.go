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
		if rec := l.Record(t.ID); rec.Completed {
			if took := minutesSpent(rec.Attempts, runs, time.Time{}); took > 0 {
				p = append(p, took/t.Weight())
			}
		}
	}
	slices.Sort(p)
	return p
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

// pricePerMinute returns what a minute of attempts of known cost has cost, in US dollars; 0: no cost is known.
func pricePerMinute(l *attempts.Ledger) float64 {
	usd, took := 0.0, time.Duration(0)
	for _, rec := range l.Tasks {
		for i := range rec.Attempts {
			if a := &rec.Attempts[i]; a.Usage != nil && a.Usage.KnownCost() && a.EndedAt.After(a.StartedAt) && !a.StartedAt.IsZero() {
				usd, took = usd+a.Usage.CostUSD, took+a.EndedAt.Sub(a.StartedAt)
			}
		}
	}
	return usd / max(took.Minutes(), 1)
}

// The standard deviation of few durations is not known well. It is estimated as if priorTasks more tasks had been seen
// with a usual deviation, in natural logarithms.
const (
	priorDeviation = 0.9
	priorTasks     = 8
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

// drawer returns a function that draws durations of tasks of one run. Their logarithms are about normal, and few known durations do not
// determine the mean, so the mean is drawn first.
func (p durations) drawer(r *rand.Rand) func() float64 {
	mean, deviation := p.logDistribution()
	mean += deviation / math.Sqrt(float64(len(p))) * r.NormFloat64()
	return func() float64 { return math.Exp(mean + deviation*r.NormFloat64()) }
}

// maxDraws bounds how often a duration is drawn that must be longer than the time spent.
const maxDraws = 20

// remaining returns how many minutes a task of so many points still takes on which `spent` were spent already: longer durations per point
// are drawn. If there are none, the task starts over.
func remaining(points, spent float64, draw func() float64) float64 {
	for range maxDraws {
		if left := draw()*points - spent; left >= 0 {
			return left
		}
	}
	return draw() * points
}
