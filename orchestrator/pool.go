package orchestrator

import (
	"fmt"
	"time"
)

// pool knows which runners can be asked now. It has no clock of its own.
type pool struct {
	order   []string
	needs   string // the reviewer: while it cannot be asked, an agent's work could not be finished; "" : nobody
	members map[string]*member
	backoff time.Duration
	longest time.Duration
}

// member is one runner's standing.
type member struct {
	opens  opening
	why    string
	out    bool // for the rest of this run
	faults int  // provider faults in a row
}

func newPool(order []string, needs string, backoff, longest time.Duration) *pool {
	return &pool{order: order, needs: needs, members: make(map[string]*member), backoff: backoff, longest: longest}
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
func (p *pool) pick(own string, now moment) (string, bool) {
	if p.needs != "" && !p.open(p.needs, now) {
		return "", false
	}
	for _, name := range p.choices(own) {
		if p.open(name, now) {
			return name, true
		}
	}
	return "", false
}

func (p *pool) open(name string, now moment) bool {
	m := p.member(name)
	return !m.out && m.opens.rest(now) <= 0
}

func (p *pool) choices(own string) []string {
	if own != "" {
		return []string{own}
	}
	return p.order
}

// hopeless reports that no runner for such a task is left in this run, and why.
func (p *pool) hopeless(own string) (why string, yes bool) {
	if m := p.member(p.needs); m.out {
		return m.why, true
	}
	for _, name := range p.choices(own) {
		m := p.member(name)
		if !m.out {
			return "", false
		}
		why = m.why
	}
	return why, true
}

// opens returns when a runner for such a task may be asked, and which one it waits for; "" when it is hopeless.
func (p *pool) opens(own string, now moment) (name string, at opening) {
	if _, yes := p.hopeless(own); yes {
		return "", opening{}
	}
	for _, n := range p.choices(own) {
		if m := p.member(n); !m.out && (name == "" || m.opens.rest(now) < at.rest(now)) {
			name, at = n, m.opens
		}
	}
	if m := p.member(p.needs); m.opens.rest(now) > at.rest(now) {
		name, at = p.needs, m.opens
	}
	return name, at
}

// worked notes an answer from the provider: the next fault waits the shortest time again.
func (p *pool) worked(name string) { p.member(name).faults = 0 }

// farthest is how far off a provider's reset can be: no window is longer than a month, and what is said to be further
// off is a mistake that must not end the night.
const farthest = 31 * 24 * time.Hour

// cool keeps a runner from being asked until resetAt, or for a time that doubles with each fault in a row. Of attempts
// that run side by side all hit the same fault: it counts once.
func (p *pool) cool(name, why string, now moment, resetAt time.Time) {
	m := p.member(name)
	opens := m.opens
	if opens.rest(now) <= 0 {
		wait := p.backoff << min(m.faults, 20)
		if wait <= 0 || wait > p.longest {
			wait = p.longest
		}
		m.faults++
		opens = now.after(wait)
	}
	if off := resetAt.Sub(now.day); off > 0 && off <= farthest {
		opens = opening{day: resetAt, run: now.run + off, named: true}
	}
	if opens.rest(now) > m.opens.rest(now) {
		m.opens, m.why = opens, why
	}
}

// drop takes a runner out for the rest of the run.
func (p *pool) drop(name, why string) {
	m := p.member(name)
	m.out, m.why = true, fmt.Sprintf("%s: %s", name, why)
}
