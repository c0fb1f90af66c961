package limits

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"relay/attempts"
	"relay/epic"
)

// Caps bound what a run, the epic over all its runs, a task and an attempt may cost. A task's own budget_usd overrides
// Task.USD.
type Caps struct {
	Run, Epic, Task, Attempt Cap
	Default                  bool // the run's cap is relay's default: briefs leave it out
}

// Cap bounds money and tokens.
type Cap = attempts.Cap

// Scope says what a cap is for.
type Scope string

// The scopes of a cap.
const (
	ScopeAttempt Scope = "attempt"
	ScopeTask    Scope = "task"
	ScopeRun     Scope = "run"
	ScopeEpic    Scope = "epic"
)

// ExhaustedError means that a cap is reached. As the cause of a cancelled context it decides the outcome of an attempt.
type ExhaustedError struct {
	Scope     Scope
	Cap       Cap // only what is reached of it
	Spent     Cap
	Estimated bool
}

// Error names the cap, and says how much of it was spent.
func (o *ExhaustedError) Error() string {
	if o.Cap.USD > 0 {
		return fmt.Sprintf("the %s's budget is spent: %.2f of %.2f USD%s", o.Scope, o.Spent.USD, o.Cap.USD, estimatedText(o.Estimated))
	}
	return fmt.Sprintf("the %s's budget is spent: %d of %d tokens%s", o.Scope, o.Spent.Tokens, o.Cap.Tokens, estimatedText(o.Estimated))
}

func estimatedText(estimated bool) string {
	if estimated {
		return ", estimated"
	}
	return ""
}

// money is an amount that is added up and compared without rounding, in millionths of a dollar.
type money struct {
	micros, tokens                 int64
	costEstimated, tokensEstimated bool // the amount is estimated, or the tokens are
}

const (
	micros    = 1e6
	maxAmount = 1e15 // of each; more than there can be
)

func moneyOf(u attempts.Usage) money {
	m := amount(u.CostUSD, u.Uncached())
	m.costEstimated, m.tokensEstimated = u.EstimatedCost(), u.Estimated
	return m
}

func amount(usd float64, tokens int64) money {
	m := money{tokens: min(max(tokens, 0), maxAmount)}
	if usd > 0 { // not for NaN
		m.micros = int64(min(math.Round(usd*micros), maxAmount))
	}
	return m
}

func (m money) plus(more money) money {
	return money{
		min(m.micros+more.micros, maxAmount), min(m.tokens+more.tokens, maxAmount),
		m.costEstimated || more.costEstimated, m.tokensEstimated || more.tokensEstimated,
	}
}

// atLeast returns the greater of both in money and in tokens. An earlier estimate is replaced, whatever it was.
func (m money) atLeast(than money) money {
	if !than.costEstimated {
		m.micros = max(m.micros, than.micros)
	}
	if !than.tokensEstimated {
		m.tokens = max(m.tokens, than.tokens)
	}
	return m
}

func (m money) asCap() Cap { return Cap{USD: float64(m.micros) / micros, Tokens: m.tokens} }

// exhausted returns an error if spent reaches a cap, or, with passed, exceeds it; else nil.
func exhausted(c Cap, of Scope, spent money, passed bool) *ExhaustedError {
	bound, less := amount(c.USD, c.Tokens), int64(0)
	if passed {
		less = 1
	}
	switch {
	case bound.micros > 0 && spent.micros >= bound.micros+less:
		return &ExhaustedError{of, Cap{USD: c.USD}, Cap{USD: spent.asCap().USD}, spent.costEstimated}
	case bound.tokens > 0 && spent.tokens >= bound.tokens+less:
		return &ExhaustedError{of, Cap{Tokens: c.Tokens}, Cap{Tokens: spent.tokens}, spent.tokensEstimated}
	}
	return nil
}

// Tracker adds up what has been spent and compares it with the caps. It reads no clock and stops nothing.
type Tracker struct {
	caps      Caps
	run, epic money      // of attempts that have ended
	ended     [2][]int64 // what attempts that have ended have cost, sorted: micros, and tokens
	open      map[string]*openAttempt
}

// openAttempt holds what the tracker knows of an attempt under way.
type openAttempt struct {
	cap    Cap   // of the task
	before money // by earlier attempts, as the task's cap counts them
	spent  money // by this one so far
}

// NewTracker returns a tracker that begins with what the epic's attempts have cost; ran is what of that counts as this run's.
func NewTracker(b Caps, ran attempts.Usage, l *attempts.Ledger) *Tracker {
	p := &Tracker{caps: b, run: moneyOf(ran), open: make(map[string]*openAttempt)}
	for _, rec := range l.Tasks {
		for i := range rec.Attempts {
			if u := rec.Attempts[i].Usage; u != nil {
				p.add(moneyOf(*u))
			}
		}
	}
	for i := range l.EpicReviews {
		if u := l.EpicReviews[i].Usage; u != nil {
			p.epic = p.epic.plus(moneyOf(*u))
		}
	}
	return p
}

// add counts the cost of an attempt that has ended.
func (p *Tracker) add(spent money) {
	p.epic = p.epic.plus(spent)
	if spent.micros+spent.tokens > 0 {
		for k, of := range [2]int64{spent.micros, spent.tokens} {
			at, _ := slices.BinarySearch(p.ended[k], of)
			p.ended[k] = slices.Insert(p.ended[k], at, of)
		}
	}
}

// Short reports whether the caps of the run and the epic leave too little for the running attempts and one more, if each costs the median
// of those that have ended. It is false if none runs or none has ended.
func (p *Tracker) Short(running int) bool {
	if running == 0 || len(p.ended[0]) == 0 {
		return false
	}
	median := func(sorted []int64) int64 { return sorted[(len(sorted)-1)/2] * int64(running+1) }
	need := money{micros: median(p.ended[0]), tokens: median(p.ended[1])}
	return exhausted(p.caps.Run, ScopeRun, p.run.plus(need), true) != nil || exhausted(p.caps.Epic, ScopeEpic, p.epic.plus(need), true) != nil
}

// TaskCap returns the cap of a task.
func (b Caps) TaskCap(t *epic.Task) Cap {
	c := b.Task
	if t.BudgetUSD > 0 {
		c.USD = t.BudgetUSD
	}
	return c
}

// TaskExhausted returns an error if used reaches the cap of a task, else nil.
func (b Caps) TaskExhausted(t *epic.Task, used attempts.Usage) *ExhaustedError {
	return exhausted(b.TaskCap(t), ScopeTask, moneyOf(used), false)
}

// Begin opens an attempt; used is what the task has used before, as far as it counts.
func (p *Tracker) Begin(t *epic.Task, used attempts.Usage) {
	p.open[t.ID] = &openAttempt{cap: p.caps.TaskCap(t), before: moneyOf(used)}
}

// Record sets what an attempt has used so far. It returns the first cap that is exceeded, or nil: the attempt's, the
// task's, or that of the run or the epic, which all attempts under way share.
func (p *Tracker) Record(task string, u attempts.Usage) *ExhaustedError {
	s := p.open[task]
	if s == nil {
		return nil
	}
	s.spent = moneyOf(u).atLeast(s.spent)
	if over := exhausted(p.caps.Attempt, ScopeAttempt, s.spent, true); over != nil {
		return over
	}
	if over := exhausted(s.cap, ScopeTask, s.before.plus(s.spent), true); over != nil {
		return over
	}
	return p.exhausted(true)
}

// End closes an attempt. ours says whether its cost counts as this run's, and not as that of a killed one.
func (p *Tracker) End(task string, u attempts.Usage, ours bool) {
	spent := moneyOf(u)
	if s := p.open[task]; s != nil {
		spent = spent.atLeast(s.spent)
		delete(p.open, task)
	}
	p.add(spent)
	if ours {
		p.run = p.run.plus(spent)
	}
}

// Exhausted returns an error if the cap of the run or of the epic is reached, so that nothing more may be started, else
// nil.
func (p *Tracker) Exhausted() *ExhaustedError { return p.exhausted(false) }

func (p *Tracker) exhausted(passed bool) *ExhaustedError {
	under := p.openSpending()
	if over := exhausted(p.caps.Run, ScopeRun, p.run.plus(under), passed); over != nil {
		return over
	}
	return exhausted(p.caps.Epic, ScopeEpic, p.epic.plus(under), passed)
}

// EpicExhausted returns an error if the cap of the epic is reached, so that no run can do anything, else nil.
func EpicExhausted(b Caps, l *attempts.Ledger) *ExhaustedError {
	b.Run = Cap{}
	return NewTracker(b, attempts.Usage{}, l).Exhausted()
}

// Summary returns text that says what the run and the epic may cost, and what is spent of it; "" without caps.
func (p *Tracker) Summary() string {
	var all []string
	add := func(of string, c Cap, spent money) {
		gone := spent.asCap()
		switch {
		case c.USD > 0 && gone.USD > 0:
			all = append(all, fmt.Sprintf("%s%.2f USD, %.2f spent%s", of, c.USD, gone.USD, estimatedText(spent.costEstimated)))
		case c.USD > 0:
			all = append(all, fmt.Sprintf("%s%.2f USD", of, c.USD))
		}
		switch {
		case c.Tokens > 0 && gone.Tokens > 0:
			all = append(all, fmt.Sprintf("%s%d tokens, %d used%s", of, c.Tokens, gone.Tokens, estimatedText(spent.tokensEstimated)))
		case c.Tokens > 0:
			all = append(all, fmt.Sprintf("%s%d tokens", of, c.Tokens))
		}
	}
	add("budget ", p.caps.Run, p.run)
	add("budget of the epic ", p.caps.Epic, p.epic)
	return strings.Join(all, "; ")
}

// openSpending returns what the attempts under way have spent.
func (p *Tracker) openSpending() money {
	var sum money
	for _, s := range p.open {
		sum = sum.plus(s.spent)
	}
	return sum
}

// Remaining returns what an attempt that begins now may use; zero where there is no cap. A default cap of the run is
// left out.
func (p *Tracker) Remaining(t *epic.Task, used attempts.Usage) Cap {
	under := p.openSpending()
	left := lesserRemaining(p.caps.Attempt, money{}, Cap{})
	left = lesserRemaining(p.caps.TaskCap(t), moneyOf(used), left)
	left = lesserRemaining(p.caps.Epic, p.epic.plus(under), left)
	if p.caps.Default {
		return left
	}
	return lesserRemaining(p.caps.Run, p.run.plus(under), left)
}

// lesserRemaining returns what is left of a cap, or `than` where that is less.
func lesserRemaining(c Cap, spent money, than Cap) Cap {
	rest := func(bound, spent, than int64) int64 {
		left := max(bound-spent, 1)
		if bound == 0 || than > 0 && than < left {
			return than
		}
		return left
	}
	bound, other := amount(c.USD, c.Tokens), amount(than.USD, than.Tokens)
	return money{micros: rest(bound.micros, spent.micros, other.micros), tokens: rest(bound.tokens, spent.tokens, other.tokens)}.asCap()
}
