package orchestrator

import (
	"fmt"
	"slices"
	"time"

	"relay/attempts"
)

// pool knows which runners can be asked now. It has no clock of its own.
type pool struct {
	order   []string
	needs   []string // the reviewers: while one cannot be asked, an agent's work could not be finished
	members map[string]*member
	backoff time.Duration
	longest time.Duration
	jitter  func(most time.Duration) time.Duration // nil: none
}

// member is one runner's standing.
type member struct {
	opens  opening
	reset  time.Time // as the provider said
	why    string
	out    bool // for the rest of this run
	faults int  // provider faults in a row
}

func newPool(order []string, needs []string, backoff, longest time.Duration) *pool {
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

func (p *pool) allOpen(names []string, now moment) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !p.open(name, now) })
}

// closed are the reviewers that are not to be asked at now.
func (p *pool) closed(now moment) []attempts.Cooling {
	var list []attempts.Cooling
	for _, name := range p.needs {
		if m := p.member(name); m.opens.rest(now) > 0 {
			list = append(list, attempts.Cooling{Runner: name, Until: now.day.Add(m.opens.rest(now)), Named: m.opens.named, Why: m.why})
		}
	}
	return list
}

func (p *pool) choices(own string) []string {
	if own != "" {
		return []string{own}
	}
	return p.order
}

// hopeless reports that no runner for such a task is left in this run, and why.
func (p *pool) hopeless(own string) (why string, yes bool) {
	for _, name := range p.needs {
		if m := p.member(name); m.out {
			return m.why, true
		}
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

// opens returns when a runner for such a task and these reviewers may be asked, and which one it waits for; "" when it is
// hopeless.
func (p *pool) opens(own string, needs []string, now moment) (name string, at opening) {
	if _, yes := p.hopeless(own); yes {
		return "", opening{}
	}
	for _, n := range p.choices(own) {
		if m := p.member(n); !m.out && (name == "" || m.opens.rest(now) < at.rest(now)) {
			name, at = n, m.opens
		}
	}
	if last, when := p.latest(needs, now); last != "" && when.rest(now) > at.rest(now) {
		name, at = last, when
	}
	return name, at
}

// latest returns when all of these may be asked, and which one that waits for; "" when one is out.
func (p *pool) latest(names []string, now moment) (name string, at opening) {
	for _, n := range names {
		m := p.member(n)
		if m.out {
			return "", opening{}
		}
		if name == "" || m.opens.rest(now) > at.rest(now) {
			name, at = n, m.opens
		}
	}
	return name, at
}

// worked notes an answer from the provider: the next fault waits the shortest time again.
func (p *pool) worked(name string) { p.member(name).faults = 0 }

// farthest is how far off a provider's reset can be: no window is longer than a month, and what is said to be further
// off is a mistake that must not end the night.
const farthest = 31 * 24 * time.Hour

// cool keeps a runner from being asked until resetAt, or for a time that doubles with each fault in a row. Of attempts
// that run side by side all hit the same fault: it counts once. It returns nil when nothing has changed.
func (p *pool) cool(name, why string, now moment, resetAt time.Time) *attempts.Cooling {
	m := p.member(name)
	opens := m.opens
	if opens.rest(now) <= 0 {
		wait := p.backoff << min(m.faults, 20)
		if wait <= 0 || wait > p.longest {
			wait = p.longest
		}
		m.faults++
		opens = now.after(wait + p.spread(wait))
	}
	if off := resetAt.Sub(now.day); off > 0 && off <= farthest && resetAt.After(m.reset) {
		m.reset = resetAt
		late := p.spread(off)
		opens = opening{day: resetAt.Add(late), run: now.run + off + late, named: true}
	}
	if opens.rest(now) <= m.opens.rest(now) {
		return nil
	}
	m.opens, m.why = opens, why
	return &attempts.Cooling{Runner: name, Until: opens.day.UTC(), Named: opens.named, Why: why}
}

// What is added to a wait, at most: many relays wait for the same reset, and must not all ask in the same second.
const (
	leastSpread = 5 * time.Second
	mostSpread  = 5 * time.Minute
)

// spread draws what a wait takes longer: a hundredth of it at most, or some seconds, and never more than itself.
func (p *pool) spread(wait time.Duration) time.Duration {
	if p.jitter == nil || wait <= 0 {
		return 0
	}
	return p.jitter(min(max(wait/100, leastSpread), mostSpread, wait))
}

// recall takes over what an earlier run was told. Its back-offs are of relay's own making: they are never longer than
// they could be now, whatever the clock was then.
func (p *pool) recall(known map[string]attempts.Cooling, now moment) {
	for name, c := range known {
		off := c.Until.Sub(now.day)
		if off <= 0 || off > farthest {
			continue
		}
		if !c.Named {
			off = min(off, p.longest)
		}
		m := p.member(name)
		m.opens, m.why = opening{day: now.day.Add(off), run: now.run + off, named: c.Named}, c.Why
	}
}

// cooling lists the runners that are not to be asked now, by name.
func (p *pool) cooling(now moment) []string {
	var names []string
	for name, m := range p.members {
		if !m.out && m.opens.rest(now) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// drop takes a runner out for the rest of the run.
func (p *pool) drop(name, why string) {
	m := p.member(name)
	m.out, m.why = true, fmt.Sprintf("%s: %s", name, why)
}

// turn says why a task goes to a runner and not to another one that had it, or the task before it.
func (p *pool) turn(from, to string, now moment) string {
	m := p.member(from)
	switch rest := m.opens.rest(now); {
	case p.before(to, from):
		return "back from " + from + " to " + to + ": " + to + " may be asked again"
	case m.out:
		return "from " + from + " to " + to + ": " + m.why
	case rest > 0:
		return fmt.Sprintf("from %s to %s: %s is not asked before %s%s", from, to, from, clockText(m.opens.day), because(m.why))
	}
	return "from " + from + " to " + to
}

// before reports whether one runner is preferred to another.
func (p *pool) before(a, b string) bool {
	i, k := slices.Index(p.order, a), slices.Index(p.order, b)
	return i >= 0 && k >= 0 && i < k
}

func stampText(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// clockText is for people, who look at their own clock.
func clockText(t time.Time) string { return t.Local().Format(time.RFC3339) }

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
