package report

import (
	"cmp"
	"slices"

	"relay/attempts"
)

// Spender is an agent with a model, and what its attempts have used; reviews count with the attempt they are of.
type Spender struct {
	Runner   string `json:"runner"`
	Model    string `json:"model,omitempty"` // "": it did not say
	Attempts int    `json:"attempts"`
	Unpriced int    `json:"unpriced,omitempty"` // attempts that used tokens of unknown price
	attempts.Usage
}

// Spenders are all that have used something.
type Spenders []Spender

// Add counts an attempt, unless it used nothing.
func (s *Spenders) Add(a *attempts.Attempt) {
	if a.Usage == nil {
		return
	}
	at := slices.IndexFunc(*s, func(o Spender) bool { return o.Runner == a.Runner && o.Model == a.Model })
	if at < 0 {
		at = len(*s)
		*s = append(*s, Spender{Runner: a.Runner, Model: a.Model})
	}
	one := &(*s)[at]
	one.Attempts++
	one.Usage.Add(*a.Usage)
	if a.Usage.Unpriced() {
		one.Unpriced++
	}
}

// Rank puts them in order, the dearest first.
func (s Spenders) Rank() {
	slices.SortFunc(s, func(a, b Spender) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.InputTokens, a.InputTokens),
			cmp.Compare(a.Runner, b.Runner), cmp.Compare(a.Model, b.Model))
	})
}
