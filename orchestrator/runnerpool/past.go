package runnerpool

import (
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// Past is an attempt of an earlier run.
type Past struct {
	Runner, Task string
	From, To     time.Time
	Outcome      attempts.Outcome // Quota, Provider, Auth, Start: the runner failed it; Stopped: nothing follows; else: it was answered
}

// Probe has one attempt at a time ask a runner until that answers: how it stands is not known, as after a run that was killed.
// Where another runner would get the tasks meanwhile, nothing changes.
func (p *Pool) Probe(name string, now clock.Instant) {
	if len(p.Order) > 1 {
		return
	}
	s := &p.runner(name).series
	s.begin(now)
	s.number = p.calls
}

// Learn takes over whose fault it was that runners failed tasks in earlier runs. How these runners stand now does not follow.
func (p *Pool) Learn(past []Past) {
	type edge struct {
		at    time.Time
		begun bool
		Past
	}
	var edges []edge
	for _, a := range past {
		edges = append(edges, edge{a.From, true, a}, edge{a.To, false, a})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	for _, e := range edges {
		now := clock.Instant{Day: e.at, Run: e.at.Sub(edges[0].at)}
		switch {
		case e.begun:
			p.Ask(e.Runner, e.Task, now)
		case e.Outcome == attempts.Quota, e.Outcome == attempts.Provider, e.Outcome == attempts.Auth, e.Outcome == attempts.Start:
			p.Fail(e.Runner, e.Task, Fault{Outcome: e.Outcome}, now)
		case e.Outcome != attempts.Stopped:
			p.Answered(e.Runner, e.Task, now)
		}
		if !e.begun {
			p.Release(e.Task)
		}
	}
	for name, r := range p.runners {
		for _, own := range r.own {
			own.opens = clock.Deadline{}
		}
		p.runners[name] = &runner{asked: make(map[string]call), own: r.own}
	}
}
