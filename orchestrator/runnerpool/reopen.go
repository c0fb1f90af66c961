package runnerpool

import (
	"time"

	"relay/orchestrator/clock"
)

// Reopen lets runners be asked at once, whatever they and a task of theirs have failed before: a person wants it. It returns those that
// were not to be asked yet. Attempts under way stay.
func (p *Pool) Reopen(names []string, task string, now clock.Instant) (closed []string) {
	for _, name := range names {
		r := p.runner(name)
		if r.opens.Rest(now) > 0 {
			closed = append(closed, name)
		}
		r.series, r.opens, r.reset, r.out = series{}, clock.Deadline{}, time.Time{}, false
		delete(r.own, task)
	}
	return closed
}

// Choices returns the runners that a task may have, given the one it names: "" for none.
func (p *Pool) Choices(named string) []string { return p.choices(named) }
