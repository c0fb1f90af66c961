package runnerpool

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"relay/attempts"
	"relay/orchestrator/clock"
)

// cooldown returns a runner's cooldown; its Until is the zero time if the runner may be asked now.
func (r *runner) cooldown(name string, now clock.Instant) (c attempts.Cooldown) {
	if r.opens.Rest(now) > 0 {
		c = attempts.Cooldown{Runner: name, Until: r.opens.Day, Named: r.opens.Named, Why: r.why, Outcome: r.outcome}
	}
	return c
}

// Closed returns the reviewers that are not to be asked at now.
func (p *Pool) Closed(now clock.Instant) (list []attempts.Cooldown) {
	for _, name := range p.Panel {
		r := p.runner(name)
		if c := r.cooldown(name, now); !c.Until.IsZero() {
			c.Until = now.Day.Add(r.opens.Rest(now))
			list = append(list, c)
		}
	}
	return list
}

// Cooldowns lists the runners that are not to be asked now, by name, and since when they may be.
func (p *Pool) Cooldowns(now clock.Instant) (list []attempts.Cooldown) {
	for _, name := range slices.Sorted(maps.Keys(p.runners)) {
		if c := p.runners[name].cooldown(name, now); !c.Until.IsZero() {
			list = append(list, c)
		}
	}
	return list
}

// Recall restores the cooldowns that an earlier run has recorded. Its back-offs are of relay's own making: they are
// never longer than they could be now, whatever the clock was then. Who began this run may have put right what was
// refused: that is asked.
func (p *Pool) Recall(cooldowns map[string]attempts.Cooldown, now clock.Instant) {
	for name, c := range cooldowns {
		off := c.Until.Sub(now.Day)
		if off <= 0 || off > farthest || c.Refused() {
			continue
		}
		if !c.Named {
			off = min(off, p.BackoffMax)
		}
		r := p.runner(name)
		r.opens, r.why, r.outcome = clock.Deadline{Day: now.Day.Add(off), Run: now.Run + off, Named: c.Named}, c.Why, c.Outcome
		r.series.begin(now)
		r.series.newcomers = r.opens
	}
}

// SwitchReason returns text that says why a task goes to a runner and not to another one that had it, or the task before it.
// Times are told by the given function.
func (p *Pool) SwitchReason(from, to string, now clock.Instant, clockText func(time.Time) string) string {
	r := p.runner(from)
	switch rest := r.opens.Rest(now); {
	case p.before(to, from):
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
