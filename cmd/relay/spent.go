package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"relay/attempts"
)

// spender is an agent with a model, and what its attempts have used; reviews count with the attempt they are of.
type spender struct {
	Runner   string `json:"runner"`
	Model    string `json:"model,omitempty"` // "": it did not say
	Attempts int    `json:"attempts"`
	Unpriced int    `json:"unpriced,omitempty"` // attempts that used something nobody had a price for
	usage
}

func usageFrom(u attempts.Usage) usage {
	return usage{InputTokens: u.InputTokens, CachedTokens: u.CachedTokens, OutputTokens: u.OutputTokens, CostUSD: u.CostUSD}
}

func (u *usage) plus(more attempts.Usage) {
	u.InputTokens += more.InputTokens
	u.CachedTokens += more.CachedTokens
	u.OutputTokens += more.OutputTokens
	u.CostUSD += more.CostUSD
}

// spend adds a task's attempts to what each agent has used.
func (s *standing) spend(rec *attempts.TaskRecord) {
	for i := range rec.Attempts {
		a := &rec.Attempts[i]
		if a.Usage == nil {
			continue
		}
		s.Usage.plus(*a.Usage)
		at := slices.IndexFunc(s.Spenders, func(o spender) bool { return o.Runner == a.Runner && o.Model == a.Model })
		if at < 0 {
			at = len(s.Spenders)
			s.Spenders = append(s.Spenders, spender{Runner: a.Runner, Model: a.Model})
		}
		one := &s.Spenders[at]
		one.Attempts++
		one.plus(*a.Usage)
		if a.Usage.Unpriced() {
			one.Unpriced++
		}
	}
}

// ranked puts the spenders in order, the dearest first.
func ranked(all []spender) {
	slices.SortFunc(all, func(a, b spender) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.InputTokens, a.InputTokens), cmp.Compare(a.Runner, b.Runner), cmp.Compare(a.Model, b.Model))
	})
}

// cost tells what all attempts have used and, where there are several, each agent and model; unpriced is what nobody knows.
func (l listing) cost(w io.Writer, s *standing) {
	if s.Usage == (usage{}) {
		return
	}
	fmt.Fprintf(w, "cost   %s\n", usageText(s.Usage))
	unpriced := 0
	for _, one := range s.Spenders {
		unpriced += one.Unpriced
		if len(s.Spenders) > 1 || l.verbose {
			who := strings.TrimSpace(line(one.Runner, 20) + " " + line(one.Model, 40))
			fmt.Fprintf(w, "       %s: %s, %s\n", who, usageText(one.usage), count(one.Attempts, "attempt"))
		}
	}
	if unpriced > 0 && s.Usage.CostUSD > 0 {
		fmt.Fprintf(w, "       not in it: what %s cost, whose price nobody knew\n", count(unpriced, "attempt"))
	}
}
