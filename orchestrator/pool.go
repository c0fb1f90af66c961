package orchestrator

import (
	"fmt"
	"slices"
	"time"
)

// pool knows which runners can be asked now. It has no clock of its own.
type pool struct {
	order   []string
	members map[string]*member
	backoff time.Duration
	longest time.Duration
}

// member is one runner's standing.
type member struct {
	coolUntil time.Time
	why       string
	out       bool // for the rest of this run
	faults    int  // provider faults in a row
}

func newPool(order []string, backoff, longest time.Duration) *pool {
	return &pool{order: order, members: make(map[string]*member), backoff: backoff, longest: longest}
}

func (p *pool) member(name string) *member {
	m, ok := p.members[name]
	if !ok {
		m = &member{}
		p.members[name] = m
	}
	return m
}

// pick returns the first runner that may be asked at now: own when the task names one, else by preference.
func (p *pool) pick(own string, now time.Time) (string, bool) {
	for _, name := range p.choices(own) {
		if m := p.member(name); !m.out && !now.Before(m.coolUntil) {
			return name, true
		}
	}
	return "", false
}

func (p *pool) choices(own string) []string {
	if own != "" {
		return []string{own}
	}
	return p.order
}

// hopeless reports that no runner for such a task is left in this run, and why.
func (p *pool) hopeless(own string) (why string, yes bool) {
	for _, name := range p.choices(own) {
		m := p.member(name)
		if !m.out {
			return "", false
		}
		why = m.why
	}
	return why, true
}

// earliest returns when the first cooling runner may be asked again, and its name.
func (p *pool) earliest(now time.Time) (name string, at time.Time) {
	for n, m := range p.members {
		if !m.out && m.coolUntil.After(now) && (at.IsZero() || m.coolUntil.Before(at) || m.coolUntil.Equal(at) && n < name) {
			name, at = n, m.coolUntil
		}
	}
	return name, at
}

// worked notes an answer from the provider: the next fault waits the shortest time again.
func (p *pool) worked(name string) { p.member(name).faults = 0 }

// cool keeps a runner from being asked until resetAt, or for a time that doubles with each fault in a row.
func (p *pool) cool(name, why string, now, resetAt time.Time) time.Time {
	m := p.member(name)
	wait := p.backoff << min(m.faults, 20)
	if wait <= 0 || wait > p.longest {
		wait = p.longest
	}
	m.faults++
	until := now.Add(wait)
	if resetAt.After(now) {
		until = resetAt
	}
	if until.After(m.coolUntil) {
		m.coolUntil, m.why = until, why
	}
	return m.coolUntil
}

// drop takes a runner out for the rest of the run.
func (p *pool) drop(name, why string) {
	m := p.member(name)
	m.out, m.why = true, fmt.Sprintf("%s: %s", name, why)
}

// names lists every runner the run may ask: those of the configuration and those that tasks name.
func (p *pool) names(tasks []string) []string {
	all := slices.Clone(p.order)
	for _, name := range tasks {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
