package limits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"relay/attempts"
	"relay/epic/each"
)

// PoolOptions say how long runners are left alone and when they are given up.
type PoolOptions struct {
	Order []string // runners for tasks that name none, in order of preference
	Panel []string // reviewers that every agent's work needs

	Backoff    time.Duration // the first wait after a provider's fault; each further one is twice as long
	BackoffMax time.Duration // the longest
	TaskFaults int           // faults of one runner on one task alone before it is not asked for that task any more; 0: no limit
	OutAfter   int           // refusals in a row after which a runner is out …
	OutPeriod  time.Duration // … when they have lasted so long

	Deadline *Deadline     // the run's; nil: none
	Patience time.Duration // of a run without a deadline: how long it waits for a runner that does not answer; 0: no limit

	Jitter func(most time.Duration) time.Duration // draws what a wait takes longer, of at most so much; nil: nothing
}

// Pool knows how every runner stands.
type Pool struct {
	PoolOptions
	runners runners
	calls   int // made so far, to tell which came before which
}

// runner is the state of one runner.
type runner struct {
	opens    Deadline  // not asked before, by a task that it has failed since its last answer
	reset    time.Time // as the provider said
	why      string
	outcome  attempts.Outcome // of the last fault
	out      bool             // refused too often: asked again every half hour, if no other runner can work
	answered bool             // in this run
	series   series
	asked    map[string]call  // attempts under way, by task
	own      map[string]*pair // by task: faults that are the task's own
}

// call is an attempt under way.
type call struct {
	number int
	began  time.Duration // on the run's clock
}

// NewPool returns a pool in which every runner may be asked.
func NewPool(o PoolOptions) *Pool { return &Pool{PoolOptions: o, runners: make(runners)} }

// runners are those that were asked or named so far.
type runners map[string]*runner

func (m runners) of(name string) *runner {
	r, ok := m[name]
	if !ok {
		r = &runner{asked: make(map[string]call), own: make(map[string]*pair)}
		m[name] = r
	}
	return r
}

// Choices returns the runners that a task may have, given the one it names: "" for none.
func (p *Pool) Choices(named string) []string {
	if named != "" {
		return []string{named}
	}
	return p.Order
}

// Pick returns the runner that a task may have at now. Of several it is the one that has failed the task least, and then
// the one that is preferred; one that is out only when no other may be asked. The rank says how many ready tasks should
// go first: all those with a lower one.
func (p *Pool) Pick(task, named string, now Instant) (name string, rank int, ok bool) {
	for _, n := range p.Choices(named) {
		r := p.runners.of(n)
		if r.opensFor(task, now, p.Backoff).Rest(now) > 0 || r.barred(task, p.TaskFaults) {
			continue
		}
		if k := r.rank(task); !ok || k < rank {
			name, rank, ok = n, k, true
		}
	}
	return name, rank, ok
}

// Ranks returns the ranks that Pick gives to tasks now, ascending. Nearly always there is one.
func (p *Pool) Ranks() []int {
	ranks := []int{0}
	for _, r := range p.runners {
		if r.out {
			ranks = append(ranks, lastRank)
		}
		for task := range r.series.faults {
			ranks = append(ranks, r.rank(task))
		}
		for task := range r.own {
			ranks = append(ranks, r.rank(task))
		}
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}

// Ranks of tasks for a runner, besides the number of times that it has failed them since its last answer.
const (
	ownRank  = 1 << 20 // the fault is the task's own: it goes behind its neighbours
	lastRank = 1 << 21 // the runner is out: anybody else is asked first
)

func (r *runner) rank(task string) int {
	rank := 0
	if len(r.series.limited) == 0 {
		rank = r.series.faults[task]
	}
	if r.own[task] != nil && r.own[task].faults > 0 {
		rank += ownRank
	}
	if r.out {
		rank += lastRank
	}
	return rank
}

// Ask records that an attempt of a task begins at a runner.
func (p *Pool) Ask(name, task string, now Instant) {
	p.calls++
	p.runners.of(name).asked[task] = call{number: p.calls, began: now.Run}
}

// Begin records that the agent of an attempt under way would be started now. It returns how long it has to wait, because
// the runner has failed others since it was chosen; 0: it may be started. again reports that the attempt then counts as a new call.
func (p *Pool) Begin(name, task string, now Instant) (rest time.Duration, again bool) {
	r := p.runners.of(name)
	c, underWay := r.asked[task]
	if !underWay || !r.series.on || c.number > r.series.number {
		return 0, false
	}
	if rest = r.opensFor(task, now, p.Backoff).Rest(now); rest <= 0 {
		p.Ask(name, task, now)
	}
	return max(rest, 0), rest <= 0
}

// Release records that a task has no attempt under way any more.
func (p *Pool) Release(task string) {
	for _, r := range p.runners {
		delete(r.asked, task)
	}
}

// opensFor returns when a runner may be asked for a task. While it does not answer, one attempt at a time asks it, for a back-off at most.
func (r *runner) opensFor(task string, now Instant, backoff time.Duration) Deadline {
	at := r.opens
	if s := &r.series; s.on && !at.Named && !r.out && s.faults[task] == 0 {
		at = s.newcomers
	}
	if own := r.own[task]; own != nil && own.opens.Rest(now) > at.Rest(now) {
		at = own.opens
	}
	if rest := r.probed(now, backoff); rest > max(at.Rest(now), 0) {
		at = now.After(rest)
	}
	return at
}

// Opens returns when a runner for a task and these reviewers may be asked, and which one it waits for; "" when none is
// left in this run.
func (p *Pool) Opens(task, named string, panel []string, now Instant) (name string, at Deadline) {
	if _, yes := p.Hopeless(named, panel, now); yes {
		return "", at
	}
	hope := false
	for _, n := range p.Choices(named) {
		r := p.runners.of(n)
		if r.barred(task, p.TaskFaults) {
			continue
		}
		hope = hope || !r.lost(&p.PoolOptions, now)
		if when := r.opensFor(task, now, p.Backoff); name == "" || when.Rest(now) < at.Rest(now) {
			name, at = n, when
		}
	}
	if !hope {
		return "", Deadline{}
	}
	if last, when := p.Latest(task, panel, now); last != "" && when.Rest(now) > at.Rest(now) {
		name, at = last, when
	}
	return name, at
}

// Latest returns when all of these may be asked about a task, and which one that waits for; "" when one of them is lost.
func (p *Pool) Latest(task string, names []string, now Instant) (name string, at Deadline) {
	for _, n := range names {
		r := p.runners.of(n)
		if r.lost(&p.PoolOptions, now) {
			return "", Deadline{}
		}
		if when := r.opensFor(task, now, p.Backoff); name == "" || when.Rest(now) > at.Rest(now) {
			name, at = n, when
		}
	}
	return name, at
}

// Review returns the rank of a task whose work lacks the opinions of these reviewers, as Pick does, if all may be asked.
func (p *Pool) Review(task string, names []string, now Instant) (rank int, ok bool) {
	for _, n := range names {
		rank = max(rank, p.runners.of(n).rank(task))
	}
	return rank, p.AllOpen(task, names, now)
}

// AllOpen reports whether all of these may be asked about a task.
func (p *Pool) AllOpen(task string, names []string, now Instant) bool {
	return !slices.ContainsFunc(names, func(n string) bool { return p.runners.of(n).opensFor(task, now, p.Backoff).Rest(now) > 0 })
}

// mostRefusals is how often a reviewer refuses in a row before new work no longer waits for it.
const mostRefusals = 2

// PanelOut reports whether a reviewer is out, or refuses again: as long as it does, a person has to log it in.
func (p *Pool) PanelOut() bool {
	return slices.ContainsFunc(p.Panel, func(n string) bool { return p.runners.of(n).out || p.runners.of(n).series.refusals >= mostRefusals })
}

// HasFailed reports whether any runner has failed a task since its last answer: such a task may wait longer than others.
func (p *Pool) HasFailed(task string) bool {
	failed := func(r *runner) bool { return r.own[task] != nil || r.series.faults[task] > 0 }
	return slices.ContainsFunc(slices.Collect(maps.Values(p.runners)), failed)
}

// lost reports that the run no longer waits for a runner: it is out until after the run's deadline; or, without one, it is
// out and has never answered in this run, or has not answered for too long.
func (r *runner) lost(o *PoolOptions, now Instant) bool {
	switch {
	case o.Deadline != nil:
		return r.out && r.opens.Rest(now) >= o.Deadline.Rest(now)
	case r.out && !r.answered:
		return true
	}
	return o.Patience > 0 && r.series.on && !r.opens.Named && r.opens.Run-r.series.began >= o.Patience
}

// Hopeless reports that no runner for such a task is left in this run, or a reviewer is not, and names it; "" when there
// never was one.
func (p *Pool) Hopeless(named string, panel []string, now Instant) (name string, yes bool) {
	for _, n := range panel {
		if p.runners.of(n).lost(&p.PoolOptions, now) {
			return n, true
		}
	}
	for _, n := range p.Choices(named) {
		if !p.runners.of(n).lost(&p.PoolOptions, now) {
			return "", false
		}
		name = n
	}
	return name, true
}

// Why returns the text of a runner's last fault, or nothing.
func (p *Pool) Why(name string) string { return p.runners.of(name).why }

// Last returns the outcome of a runner's last fault, or nothing.
func (p *Pool) Last(name string) attempts.Outcome { return p.runners.of(name).outcome }

// before reports whether one runner is preferred to another.
func before(order []string, a, b string) bool {
	i, k := slices.Index(order, a), slices.Index(order, b)
	return i >= 0 && k >= 0 && i < k
}

// cooldown returns a runner's cooldown; its Until is the zero time if the runner may be asked now.
func (r *runner) cooldown(name string, now Instant) (c attempts.Cooldown) {
	if r.opens.Rest(now) > 0 {
		c = attempts.Cooldown{Runner: name, Until: r.opens.Day, Named: r.opens.Named, Why: r.why, Outcome: r.outcome}
	}
	return c
}

// Closed returns the reviewers that are not to be asked at now.
func (p *Pool) Closed(now Instant) (list []attempts.Cooldown) {
	for _, name := range p.Panel {
		r := p.runners.of(name)
		if c := r.cooldown(name, now); !c.Until.IsZero() {
			c.Until = now.Day.Add(r.opens.Rest(now))
			list = append(list, c)
		}
	}
	return list
}

// Cooldowns lists the runners that are not to be asked now, by name, and since when they may be.
func (p *Pool) Cooldowns(now Instant) []attempts.Cooldown {
	return each.Where(slices.Sorted(maps.Keys(p.runners)), func(name string) (attempts.Cooldown, bool) {
		c := p.runners[name].cooldown(name, now)
		return c, !c.Until.IsZero()
	})
}

// Recall restores the cooldowns that an earlier run has recorded. Its back-offs are of relay's own making: they are
// never longer than they could be now, whatever the clock was then. Who began this run may have put right what was
// refused: that is asked.
func (p *Pool) Recall(cooldowns map[string]attempts.Cooldown, now Instant) {
	for name, c := range cooldowns {
		off := c.Until.Sub(now.Day)
		if off <= 0 || off > farthest || c.Refused() {
			continue
		}
		if !c.Named {
			off = min(off, p.BackoffMax)
		}
		r := p.runners.of(name)
		r.opens, r.why, r.outcome = Deadline{Day: now.Day.Add(off), Run: now.Run + off, Named: c.Named}, c.Why, c.Outcome
		r.series.begin(now)
		r.series.newcomers = r.opens
	}
}

// SwitchReason returns text that says why a task goes to a runner and not to another one that had it, or the task before it.
// clockText renders times.
func (p *Pool) SwitchReason(from, to string, now Instant, clockText func(time.Time) string) string {
	r := p.runners.of(from)
	switch rest := r.opens.Rest(now); {
	case before(p.Order, to, from):
		return "back from " + from + " to " + to + ": " + to + " may be asked again"
	case r.out:
		return "from " + from + " to " + to + ": " + from + ": " + r.why
	case rest > 0:
		text := fmt.Sprintf("from %s to %s: %s is not asked before %s", from, to, from, clockText(r.opens.Day))
		if r.why != "" {
			text += ": " + r.why
		}
		return text
	}
	return "from " + from + " to " + to
}

// Reopen lets runners be asked at once, whatever they and a task of theirs have failed before: a person wants it. It returns those that
// were not to be asked yet. Attempts under way stay.
func (p *Pool) Reopen(names []string, task string, now Instant) (closed []string) {
	for _, name := range names {
		r := p.runners.of(name)
		if r.opens.Rest(now) > 0 {
			closed = append(closed, name)
		}
		r.series, r.opens, r.reset, r.out = series{}, Deadline{}, time.Time{}, false
		delete(r.own, task)
	}
	return closed
}

// Spent reports that no runner is left that could be asked for a task, as each that is not out has failed it alone too
// often; and says so.
func (p *Pool) Spent(task, named string) (why string, yes bool) {
	var failed []string
	for _, name := range p.Choices(named) {
		switch r := p.runners.of(name); {
		case r.barred(task, p.TaskFaults):
			failed = append(failed, fmt.Sprintf("%s failed %d times", name, r.own[task].faults))
		case !r.out:
			return "", false
		}
	}
	return strings.Join(failed, ", "), len(failed) > 0
}
