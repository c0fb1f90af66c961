package orchestrator

import (
	"fmt"
	"math"
	"strings"

	"relay/attempts"
	"relay/epic"
)

// Budget is what a run, the epic over all its runs, a task and an attempt may cost. A task's own budget_usd is stronger
// than Task.USD.
type Budget struct {
	Run, Epic, Task, Attempt Cap
	Unsaid                   bool // nobody chose the run's cap: agents are not told of it
}

// Cap bounds money and tokens; 0 is no bound. Tokens are what the model read and wrote without what it read from its
// provider's cache: of a long session that is most, and it costs a tenth.
type Cap struct {
	USD    float64
	Tokens int64
}

// Scope says whose cap it is.
type Scope string

// The scopes of a cap.
const (
	OfAttempt Scope = "attempt"
	OfTask    Scope = "task"
	OfRun     Scope = "run"
	OfEpic    Scope = "epic"
)

// Overspent means that a cap is reached. As the cause of a cancelled context it decides the outcome of an attempt.
type Overspent struct {
	Scope     Scope
	Cap       Cap // only what is reached of it
	Spent     Cap
	Estimated bool
}

// Error says which cap it is, and by how much.
func (o *Overspent) Error() string {
	if o.Cap.USD > 0 {
		return fmt.Sprintf("the %s's budget is spent: %.2f of %.2f USD%s", o.Scope, o.Spent.USD, o.Cap.USD, estimatedWords(o.Estimated))
	}
	return fmt.Sprintf("the %s's budget is spent: %d of %d tokens%s", o.Scope, o.Spent.Tokens, o.Cap.Tokens, estimatedWords(o.Estimated))
}

func estimatedWords(estimated bool) string {
	if estimated {
		return ", estimated"
	}
	return ""
}

// money is an amount that can be added up and compared without rounding: millionths of a dollar.
type money struct {
	micros, tokens     int64
	guessed, uncounted bool // the amount is estimated, or the tokens are
}

const (
	micros = 1e6
	most   = 1e15 // of each; more than there can be
)

func moneyOf(u attempts.Usage) money {
	m := amount(u.CostUSD, u.Uncached())
	m.guessed, m.uncounted = u.EstimatedCost(), u.Estimated
	return m
}

func amount(usd float64, tokens int64) money {
	m := money{tokens: min(max(tokens, 0), most)}
	if usd > 0 { // not for NaN
		m.micros = int64(min(math.Round(usd*micros), most))
	}
	return m
}

func (m money) plus(more money) money {
	return money{min(m.micros+more.micros, most), min(m.tokens+more.tokens, most), m.guessed || more.guessed, m.uncounted || more.uncounted}
}

// atLeast is the greater of each: what was told once is spent. What was only estimated is what it turns out to be.
func (m money) atLeast(than money) money {
	if !than.guessed {
		m.micros = max(m.micros, than.micros)
	}
	if !than.uncounted {
		m.tokens = max(m.tokens, than.tokens)
	}
	return m
}

func (m money) cap() Cap { return Cap{USD: float64(m.micros) / micros, Tokens: m.tokens} }

// reached says of a cap that nothing is left of it, or nil. Of a cap that is passed more is gone than it had.
func (c Cap) reached(of Scope, spent money, passed bool) *Overspent {
	bound, less := amount(c.USD, c.Tokens), int64(0)
	if passed {
		less = 1
	}
	switch {
	case bound.micros > 0 && spent.micros >= bound.micros+less:
		return &Overspent{of, Cap{USD: c.USD}, Cap{USD: spent.cap().USD}, spent.guessed}
	case bound.tokens > 0 && spent.tokens >= bound.tokens+less:
		return &Overspent{of, Cap{Tokens: c.Tokens}, Cap{Tokens: spent.tokens}, spent.uncounted}
	}
	return nil
}

// purse knows what has been spent and what may be. It has no clock and stops nobody.
type purse struct {
	budget    Budget
	run, epic money // of attempts that have ended
	open      map[string]*spending
}

// spending is a task's attempt that is under way.
type spending struct {
	cap    Cap   // of the task
	before money // by earlier attempts, as the task's cap counts them
	spent  money // by this one so far
}

// newPurse begins with what the epic's attempts have cost, and what of that counts as this run's.
func newPurse(b Budget, ran attempts.Usage, l *attempts.Ledger) *purse {
	p := &purse{budget: b, run: moneyOf(ran), open: make(map[string]*spending)}
	for _, rec := range l.Tasks {
		for i := range rec.Attempts {
			if u := rec.Attempts[i].Usage; u != nil {
				p.epic = p.epic.plus(moneyOf(*u))
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

// Of is the cap of a task.
func (b Budget) Of(t *epic.Task) Cap {
	c := b.Task
	if t.BudgetUSD > 0 {
		c.USD = t.BudgetUSD
	}
	return c
}

// begin opens an attempt; used is what the task has used before, as far as it counts.
func (p *purse) begin(t *epic.Task, used attempts.Usage) {
	p.open[t.ID] = &spending{cap: p.budget.Of(t), before: moneyOf(used)}
}

// heard takes in what an attempt has used so far. It returns the first cap that is passed by it, or nil: the attempt's,
// the task's, or that of the run or the epic, which all attempts under way share.
func (p *purse) heard(task string, u attempts.Usage) *Overspent {
	s := p.open[task]
	if s == nil {
		return nil
	}
	s.spent = moneyOf(u).atLeast(s.spent)
	if over := p.budget.Attempt.reached(OfAttempt, s.spent, true); over != nil {
		return over
	}
	if over := s.cap.reached(OfTask, s.before.plus(s.spent), true); over != nil {
		return over
	}
	return p.reached(true)
}

// end closes an attempt. One that a killed run has left is that run's to pay.
func (p *purse) end(task string, u attempts.Usage, ours bool) {
	spent := moneyOf(u)
	if s := p.open[task]; s != nil {
		spent = spent.atLeast(s.spent)
		delete(p.open, task)
	}
	p.epic = p.epic.plus(spent)
	if ours {
		p.run = p.run.plus(spent)
	}
}

// spent says why nothing more may be started: the cap of the run or of the epic is reached.
func (p *purse) spent() *Overspent { return p.reached(false) }

func (p *purse) reached(passed bool) *Overspent {
	under := p.underway()
	if over := p.budget.Run.reached(OfRun, p.run.plus(under), passed); over != nil {
		return over
	}
	return p.budget.Epic.reached(OfEpic, p.epic.plus(under), passed)
}

// EpicSpent returns the cap of the epic if it is reached, or nil: no run can do anything then.
func EpicSpent(b Budget, l *attempts.Ledger) *Overspent {
	b.Run = Cap{}
	return newPurse(b, attempts.Usage{}, l).spent()
}

// words say what the run and the epic may cost, and what is spent of it.
func (p *purse) words() string {
	var all []string
	add := func(of string, c Cap, spent money) {
		gone := spent.cap()
		switch {
		case c.USD > 0 && gone.USD > 0:
			all = append(all, fmt.Sprintf("%s%.2f USD, %.2f spent%s", of, c.USD, gone.USD, estimatedWords(spent.guessed)))
		case c.USD > 0:
			all = append(all, fmt.Sprintf("%s%.2f USD", of, c.USD))
		}
		switch {
		case c.Tokens > 0 && gone.Tokens > 0:
			all = append(all, fmt.Sprintf("%s%d tokens, %d used%s", of, c.Tokens, gone.Tokens, estimatedWords(spent.uncounted)))
		case c.Tokens > 0:
			all = append(all, fmt.Sprintf("%s%d tokens", of, c.Tokens))
		}
	}
	add("budget ", p.budget.Run, p.run)
	add("budget of the epic ", p.budget.Epic, p.epic)
	return strings.Join(all, "; ")
}

// underway is what the attempts that run have spent.
func (p *purse) underway() money {
	var sum money
	for _, s := range p.open {
		sum = sum.plus(s.spent)
	}
	return sum
}

// left is what an attempt that begins now may use; zero where there is no cap. A cap that nobody chose is not told.
func (p *purse) left(t *epic.Task, used attempts.Usage) Cap {
	under := p.underway()
	left := least(p.budget.Attempt, money{}, Cap{})
	left = least(p.budget.Of(t), moneyOf(used), left)
	left = least(p.budget.Epic, p.epic.plus(under), left)
	if p.budget.Unsaid {
		return left
	}
	return least(p.budget.Run, p.run.plus(under), left)
}

// least is what is left of a cap, or what was left of another one if that is less.
func least(c Cap, spent money, than Cap) Cap {
	rest := func(bound, spent, than int64) int64 {
		left := max(bound-spent, 1)
		if bound == 0 || than > 0 && than < left {
			return than
		}
		return left
	}
	bound, other := amount(c.USD, c.Tokens), amount(than.USD, than.Tokens)
	return money{micros: rest(bound.micros, spent.micros, other.micros), tokens: rest(bound.tokens, spent.tokens, other.tokens)}.cap()
}
