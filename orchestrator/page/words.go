package page

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"relay/orchestrator/decide"
	"relay/orchestrator/report"
	"relay/orchestrator/view"
)

// Words says in words what a page, or a report on a terminal, shows of a whole night.
type Words struct {
	*view.Night
	times
	O *Options
}

// Said returns the words of a night.
func Said(n *view.Night, o Options) Words { return Words{n, times{o.Zone}, &o} }

// headline says how the run ended, after words that say that it has.
func headline(n *view.Night) string {
	return strings.TrimPrefix(report.Ended(decide.EndReason(n.Run.Reason), *n.Run.ExitCode, n.Counts[view.Look]), "done: ")
}

// Sentences returns the sentence, and what to do first.
func (n *Words) Sentences() []string {
	done := n.Sentence
	if done.Start == "" {
		return []string{done.String()}
	}
	first := done.Start + "."
	done.Start = ""
	return []string{done.String(), first}
}

// Ahead says when the run ends and what it costs, if one is on.
func (n *Words) Ahead() string {
	if n.Run.State != view.On {
		return ""
	}
	return n.Night.Ahead(n.in(n.At).Location())
}

// End is when the night ended, or when it is looked at.
func (n *Words) End() time.Time { return cmp.Or(n.Run.EndedAt, n.At) }

// Long is how long the night took, in seconds.
func (n *Words) Long() float64 {
	if n.Run.Began.IsZero() {
		return 0
	}
	return n.End().Sub(n.Run.Began).Seconds()
}

// Spent sums up who spent what.
func (n *Words) Spent() (all view.Spender) {
	for i := range n.Money.By {
		all.Seconds, all.Attempts = all.Seconds+n.Money.By[i].Seconds, all.Attempts+n.Money.By[i].Attempts
	}
	return all
}

// DoneCount is how many tasks are done.
func (n *Words) DoneCount() int { return n.Counts.Group(view.IsDone) }

// Other are the notes besides gates: what is gated still needs a person.
func (n *Words) Other() []view.Note {
	return slices.DeleteFunc(slices.Clone(n.Notes), func(note view.Note) bool { return note.Kind == "gated" })
}
