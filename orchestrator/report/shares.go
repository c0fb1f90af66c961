package report

import (
	"cmp"
	"slices"

	"relay/attempts"
)

// Share holds what an agent, a model, or an agent with a model has used; reviews count with the attempt they are of.
type Share struct {
	Name     string `json:"name,omitempty"` // of the agent or the model; empty: it did not say
	Runner   string `json:"runner,omitempty"`
	Model    string `json:"model,omitempty"` // of the runner; empty: it did not say
	Attempts int    `json:"attempts"`
	Unpriced int    `json:"unpriced,omitempty"` // attempts that used something without a known price
	attempts.Usage
}

// Shares are all that have used something.
type Shares []Share

// Add counts what an attempt has used for who has used it.
func (s *Shares) Add(who Share, used attempts.Usage) {
	at := slices.IndexFunc(*s, func(o Share) bool { return o.Name == who.Name && o.Runner == who.Runner && o.Model == who.Model })
	if at < 0 {
		at = len(*s)
		*s = append(*s, who)
	}
	one := &(*s)[at]
	one.Attempts++
	one.Usage.Add(used)
	if !used.KnownCost() && !used.Unused() {
		one.Unpriced++
	}
}

// Rank puts them in order, the dearest first.
func (s Shares) Rank() {
	slices.SortFunc(s, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.InputTokens, a.InputTokens),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Runner, b.Runner), cmp.Compare(a.Model, b.Model))
	})
}
