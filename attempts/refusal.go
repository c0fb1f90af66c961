package attempts

import (
	"maps"
	"slices"
	"time"
)

// Refusal records that a runner would not work when it was last asked, for a reason that a person can put right.
type Refusal struct {
	Runner  string    `json:"runner"`
	Outcome Outcome   `json:"outcome"` // Auth, Model or Start
	Why     string    `json:"why,omitempty"`
	Since   time.Time `json:"since"` // the first such end without another one between
}

// Refusing returns the runners that would not work when they were last asked, by name.
func (l *Ledger) Refusing() []Refusal {
	list := make([]Refusal, 0, len(l.Refused))
	for _, name := range slices.Sorted(maps.Keys(l.Refused)) {
		list = append(list, l.Refused[name])
	}
	return list
}

// refuses reports whether a runner that ended so would not work for a reason that a person can put right.
func refuses(o Outcome) bool { return o == Auth || o == Model || o == Start }

// refusal folds what the end of an attempt says of the runners that were asked.
func (l *Ledger) refusal(runner string, e *Ended, at time.Time) {
	if e.Receipt.Review != nil {
		for _, s := range e.Receipt.Review.Opinions {
			delete(l.Refused, s.Reviewer)
		}
	}
	switch {
	case e.Receipt.AwaitsReview(): // a cooldown event records what that says of a reviewer
	case refuses(e.Outcome):
		l.refuse(Refusal{Runner: runner, Outcome: e.Outcome, Why: e.Receipt.ErrorSummary, Since: at})
	case e.Outcome != Stopped && e.Outcome != Environment && e.Outcome != Provider:
		delete(l.Refused, runner)
	}
}

func (l *Ledger) refuse(r Refusal) {
	if before, again := l.Refused[r.Runner]; again {
		r.Since = before.Since
	}
	if l.Refused == nil {
		l.Refused = make(map[string]Refusal)
	}
	l.Refused[r.Runner] = r
}
