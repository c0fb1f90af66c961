package view

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"time"

	"relay/attempts"
	"relay/epic"
	"relay/orchestrator/limits"
)

// Spender is an agent with a model, and what its attempts have used; reviews count with the attempt they are of.
type Spender struct {
	Runner   string `json:"runner"`
	Model    string `json:"model,omitempty"` // "": it did not say
	Host     string `json:"host,omitempty"`  // the machine; "": this one
	Attempts int    `json:"attempts"`
	Unpriced int    `json:"unpriced,omitempty"` // attempts that used something without a known price
	attempts.Usage
	Seconds float64 `json:"seconds"` // that its attempts took, with their checks and reviews
}

// Spenders are all that have used something.
type Spenders []Spender

// Add counts an attempt, unless it used nothing.
func (s *Spenders) Add(a *attempts.Attempt) {
	if a.Usage == nil {
		return
	}
	at := slices.IndexFunc(*s, func(o Spender) bool { return o.Runner == a.Runner && o.Model == a.Model && o.Host == a.Receipt.Host })
	if at < 0 {
		at = len(*s)
		*s = append(*s, Spender{Runner: a.Runner, Model: a.Model, Host: a.Receipt.Host})
	}
	one := &(*s)[at]
	one.Attempts++
	one.Usage.Add(*a.Usage)
	one.Seconds = math.Round(1000*(one.Seconds+Seconds(a.StartedAt, a.EndedAt))) / 1000
	if !a.Usage.KnownCost() && !a.Usage.Unused() {
		one.Unpriced++
	}
}

// Rank puts them in order, the dearest first.
func (s Spenders) Rank() {
	slices.SortFunc(s, func(a, b Spender) int {
		return cmp.Or(cmp.Compare(b.CostUSD, a.CostUSD), cmp.Compare(b.InputTokens, a.InputTokens),
			cmp.Compare(a.Runner, b.Runner), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Host, b.Host))
	})
}

// MoneyOf returns what the attempts of the runs of one night, or of all with a nil list, and of the whole epic have used, and what is left
// of the caps.
func MoneyOf(e *epic.Epic, l *attempts.Ledger, tonight []string, caps limits.Caps) Money {
	m := Money{By: Spenders{}, Caps: []Cap{}}
	used := make([]*attempts.Attempt, 0, len(e.Tasks)*5/4)
	for i := range e.Tasks {
		rec := l.Record(e.Tasks[i].ID)
		for k := range rec.Attempts {
			used = append(used, &rec.Attempts[k])
		}
	}
	tried, all := len(used) > 0, Spenders{}
	for i := range l.EpicReviews {
		r := &l.EpicReviews[i]
		used = append(used, &attempts.Attempt{Run: r.Run, Runner: "review of the epic", Usage: r.Usage})
	}
	for _, a := range used {
		if a.Usage != nil {
			m.Epic.Add(*a.Usage)
		}
		if all.Add(a); tonight == nil || slices.Contains(tonight, a.Run) {
			m.By.Add(a)
		}
	}
	m.By.Rank()
	for i := range m.By {
		m.Night.Add(m.By[i].Usage)
	}
	m.Unpriced = m.By.unpriced()
	unpriced := []int{m.Unpriced, all.unpriced()}
	for i, c := range []*Cap{CapOf(limits.ScopeRun, caps.Run, m.Night, tried), CapOf(limits.ScopeEpic, caps.Epic, m.Epic, tried)} {
		if c != nil {
			c.Unpriced = unpriced[i]
			m.Caps = append(m.Caps, *c)
		}
	}
	return m
}

// unpriced counts the attempts that used something without a known price.
func (s Spenders) unpriced() (n int) {
	for i := range s {
		n += s[i].Unpriced
	}
	return n
}

// OfRun returns the cap of the run; one without bounds: there is none.
func (m *Money) OfRun() (c Cap) {
	if k := slices.IndexFunc(m.Caps, func(c Cap) bool { return c.Scope == limits.ScopeRun }); k >= 0 {
		c = m.Caps[k]
	}
	return c
}

// capsOf returns the caps of run and epic: those of the configuration, else those that the run began with.
func capsOf(b *Builder) limits.Caps {
	if r := b.journal.line.rules; r != nil && b.in.Caps.Run == (limits.Cap{}) && b.in.Caps.Epic == (limits.Cap{}) {
		return limits.Caps{Run: r.RunCap, Epic: r.EpicCap}
	}
	return b.in.Caps
}

// CapOf reports what of a cap is left; nil without a cap. The cost of attempts is unknown if all of them together cost nothing.
func CapOf(of limits.Scope, c limits.Cap, u attempts.Usage, tried bool) *Cap {
	if c == (limits.Cap{}) {
		return nil
	}
	all := &Cap{Scope: of, USD: bound(c.USD, u.CostUSD), Tokens: bound(c.Tokens, u.Uncached())}
	if all.USD != nil {
		all.USD.Unknown = tried && !u.KnownCost()
		all.USD.Estimated = u.EstimatedCost()
	}
	if all.Tokens != nil {
		all.Tokens.Estimated = u.Estimated
	}
	return all
}

func bound[N int64 | float64](most, spent N) *Bound[N] {
	if most <= 0 {
		return nil
	}
	return &Bound[N]{Cap: most, Spent: spent, Left: max(most-spent, 0)}
}

// Seconds returns a time in seconds; 0 if its begin or end is unknown.
func Seconds(from, to time.Time) float64 {
	if from.IsZero() || to.IsZero() {
		return 0
	}
	return max(float64(to.Sub(from).Milliseconds())/1000, 0)
}

// changesOf sums up what has landed.
func changesOf(b *Builder) Changed {
	in := b.ledger.Integration
	c := Changed{Branch: in.Branch, From: in.From, Finished: in.Finished}
	files := make([]uint64, 0, 2*len(b.rows)) // hashes of their names
	seed, undo := maphash.MakeSeed(), ""
	for _, row := range b.rows {
		if row.State.Group() != IsDone && row.State != Look || row.Landed == "" {
			continue
		}
		c.Landings++
		c.Added, c.Deleted, undo = c.Added+row.Added, c.Deleted+row.Deleted, row.ID
		for _, a := range b.ledger.Record(row.ID).Attempts {
			if a.Landed == row.Landed {
				for _, f := range a.Receipt.FilesChanged {
					files = append(files, maphash.String(seed, f))
				}
			}
		}
	}
	slices.Sort(files)
	if c.Files = len(slices.Compact(files)); c.Branch != "" && c.Landings > 0 {
		if c.Finished == "" && !b.in.Running { // relay finish refuses while a run is on
			c.Next = append(c.Next, Finish(c.From))
		}
		c.Next = append(c.Next, Command{"relay retry " + undo, "has a landed task done again"})
	}
	AddFlag(c.Next, b.in.Flag)
	return c
}
