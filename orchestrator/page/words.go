package page

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"relay/epic/plaintext"
	"relay/orchestrator/decide"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Words says in words what a page, or a report on a terminal, shows of a whole night.
type Words struct {
	*view.Night
	o *Options
}

// Said returns the words of a night.
func Said(n *view.Night, o Options) Words { return Words{n, &o} }

// Warnings are about the records.
func (n *Words) Warnings() []string { return n.o.Warnings }

// Clock returns a time as the night shows it; "" for an unknown one.
func (n *Words) Clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return n.o.clock(t)
}

// Counted is a number of tasks in a state, with the words for it.
type Counted struct {
	State view.State
	N     int
	Word  string
}

// Headline returns the sentence, and what to do first.
func (n *Words) Headline() [2]string {
	done := n.Sentence
	if done.Start == "" {
		return [2]string{done.String()}
	}
	first := done.Start + "."
	done.Start = ""
	return [2]string{done.String(), first}
}

// Legend returns the numbers of tasks by state, in words.
func (n *Words) Legend() (list []Counted) {
	for _, s := range view.States() {
		if c := n.Counts[s]; c > 0 {
			word := string(s)
			switch s {
			case view.Look:
				word = "done, with a look"
			case view.Asks:
				word = plaintext.Verb(c, "asks", "ask")
			default:
			}
			list = append(list, Counted{s, c, word})
		}
	}
	return list
}

// When says when the night was.
func (n *Words) When() string {
	r := &n.Run
	if r.Began.IsZero() {
		return ""
	}
	said := n.o.day(r.Began) + ", " + n.o.clock(r.Began) + " to "
	if r.State == view.On {
		return said + n.o.clock(n.At) + ", still running"
	}
	if r.EndedAt.IsZero() {
		return strings.TrimSuffix(said, " to ")
	}
	return said + n.o.clock(r.EndedAt)
}

// Ending says how the run ended, or that it goes on.
func (n *Words) Ending() string {
	switch n.Run.State {
	case view.Ended:
		left := n.Counts.Total() - n.Counts.Group(view.IsDone)
		return "The run ended: " + report.Headline(decide.EndReason(n.Run.Reason), left) + plaintext.Because(n.Run.Why) + "."
	case view.Killed:
		return "The run was killed. Nothing recorded is lost; relay work continues."
	case view.Never:
		return "There has been no run yet."
	default:
		return ""
	}
}

// Figures are the time, the money and the end, in words.
func (n *Words) Figures() string {
	var parts []string
	if end := cmp.Or(n.Run.EndedAt, n.At); !n.Run.Began.IsZero() && end.After(n.Run.Began) {
		parts = append(parts, Span(end.Sub(n.Run.Began).Seconds()))
	}
	if u := n.Money.Night; u.CostUSD > 0 {
		said := USD(u.CostUSD)
		for _, c := range n.Money.Caps {
			if c.USD != nil {
				said = fmt.Sprintf("%s of %s", USD(c.USD.Spent), USD(c.USD.Cap))
				break
			}
		}
		parts = append(parts, said+" USD")
	}
	switch f := n.Forecast; {
	case n.Run.State == view.On && f != nil:
		parts = append(parts, "done about "+n.o.clock(f.P50))
	case !n.Run.EndedAt.IsZero():
		parts = append(parts, "ended "+n.o.clock(n.Run.EndedAt))
	}
	return strings.Join(parts, ", ")
}

// Came compares what was expected with what came.
func (n *Words) Came() (rows [][3]string) {
	of := n.o.Expected
	if of == nil {
		return nil
	}
	end := "still running"
	if f := n.Forecast; f != nil {
		end = "about " + n.o.clock(f.P50) + ", by " + n.o.clock(f.P90)
	} else if !n.Run.EndedAt.IsZero() {
		end = n.o.clock(n.Run.EndedAt)
	}
	return [][3]string{
		{"", "forecast at " + n.o.clock(of.At), "came"},
		{"end", n.o.clock(of.P50) + " to " + n.o.clock(of.P90), end},
		{"tasks done", fmt.Sprint(of.Done + of.Tasks), fmt.Sprint(n.Counts.Group(view.IsDone))},
	}
}

// Made says when the page was made.
func (n *Words) Made() string { return n.o.day(n.At) + ", " + n.o.clock(n.At) }

// Caps say what is left of the caps.
func (n *Words) Caps() (list []string) {
	for _, c := range n.Money.Caps {
		if c.USD != nil {
			list = append(list, fmt.Sprintf("%.2f of %.2f USD are left of the cap of the %s", c.USD.Left, c.USD.Cap, c.Scope))
		}
	}
	return list
}

// Seconds returns how long all agents were at work.
func (n *Words) Seconds() (all float64) {
	for i := range n.Money.By {
		all += n.Money.By[i].Seconds
	}
	return all
}

// Tries returns the number of attempts of the night.
func (n *Words) Tries() (all int) {
	for i := range n.Money.By {
		all += n.Money.By[i].Attempts
	}
	return all
}
