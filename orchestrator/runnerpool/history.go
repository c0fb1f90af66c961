package runnerpool

import (
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
	"relay/orchestrator/verdict"
)

// EarlierAttempt is an attempt of an earlier run.
type EarlierAttempt struct {
	Runner, Task string
	From, To     time.Time
	Outcome      attempts.Outcome
}

// Probe allows one attempt at a time to ask a runner until it answers. It is for a runner whose state is unknown, as after a
// run that was killed. Where another runner would get the tasks meanwhile, nothing changes.
func (p *Pool) Probe(name string, now clock.Instant) {
	if len(p.Order) > 1 {
		return
	}
	s := &p.runner(name).series
	s.begin(now)
	s.number = p.calls
}

// Learn restores from earlier runs whether failures were the runners' or the tasks' fault. It does not change whether a
// runner may be asked now.
func (p *Pool) Learn(earlier []EarlierAttempt) {
	type edge struct {
		at    time.Time
		begun bool
		EarlierAttempt
	}
	var edges []edge
	for _, a := range earlier {
		edges = append(edges, edge{a.From, true, a}, edge{a.To, false, a})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
	for _, e := range edges {
		now := clock.Instant{Day: e.at, Run: e.at.Sub(edges[0].at)}
		if e.begun {
			p.Ask(e.Runner, e.Task, now)
			continue
		}
		switch verdict.ClassOf(e.Outcome).Runner {
		case verdict.RunnerFailed:
			p.Fail(e.Runner, e.Task, Fault{Outcome: e.Outcome}, now)
		case verdict.RunnerAnswered:
			p.Answered(e.Runner, e.Task, now)
		case verdict.RunnerSilent: // nothing follows
		}
		p.Release(e.Task)
	}
	for name, r := range p.runners {
		for _, own := range r.own {
			own.opens = clock.Deadline{}
		}
		p.runners[name] = &runner{asked: make(map[string]call), own: r.own}
	}
}

// History returns the attempts of earlier runs if a runner has failed a task that is not completed, else nil. Faults before
// a task was reset are left out.
func History(l *attempts.Ledger) (earlier []EarlierAttempt) {
	relevant := false
	for id, rec := range l.Tasks {
		for i, a := range rec.Attempts {
			fault := verdict.ClassOf(a.Outcome).Runner == verdict.RunnerFailed
			if a.Runner == "" || a.EndedAt.IsZero() || fault && i < rec.CountFrom {
				continue
			}
			relevant = relevant || fault && !rec.Completed
			earlier = append(earlier, EarlierAttempt{Runner: a.Runner, Task: id, From: a.StartedAt, To: a.EndedAt, Outcome: a.Outcome})
		}
	}
	if !relevant {
		return nil
	}
	return earlier
}
