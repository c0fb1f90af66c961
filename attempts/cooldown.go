package attempts

import "time"

// Cooldown records that a runner is not to be asked before a time. Without Until it may be asked again at once: a
// person has said so.
type Cooldown struct {
	Runner string    `json:"runner"`
	Until  time.Time `json:"until,omitzero"`
	Named  bool      `json:"named,omitempty"` // by the provider, as the time its usage limit ends; else it is relay's own back-off
	Why    string    `json:"why,omitempty"`

	Outcome Outcome `json:"outcome,omitempty"` // of the attempt that failed so; empty in older logs
}

// Refused reports whether the runner would not work for a reason that a person can put right.
func (c Cooldown) Refused() bool { return refuses(c.Outcome) }

// Waiting records that nothing can start before a time, and what for. It holds until an attempt starts or the run ends.
type Waiting struct {
	Until time.Time `json:"until"`
	For   string    `json:"for"` // a runner, or what the machine lacks
	Why   string    `json:"why,omitempty"`
}

// cool folds what is said of a runner. It forgets cooldowns that are over.
func (l *Ledger) cool(c *Cooldown, at time.Time) {
	for name, cooldown := range l.Cooldowns {
		if !cooldown.Until.After(at) {
			delete(l.Cooldowns, name)
		}
	}
	if c.Refused() {
		l.refuse(Refusal{Runner: c.Runner, Outcome: c.Outcome, Why: c.Why, Since: at})
	}
	switch {
	case c.Until.IsZero():
		delete(l.Cooldowns, c.Runner)
	case c.Until.After(l.Cooldowns[c.Runner].Until):
		if l.Cooldowns == nil {
			l.Cooldowns = make(map[string]Cooldown)
		}
		l.Cooldowns[c.Runner] = *c
	}
}
