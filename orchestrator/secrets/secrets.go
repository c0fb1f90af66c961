// Package secrets removes secrets from everything that relay records or shows.
//
// secrets.go keeps secrets out of what is recorded and shown: the values of secret-looking environment variables, and what has the shape
// of a well-known token.
//
// redact.go keeps secrets out of everything that is recorded or told, and what it lets through harmless and short.
package secrets

import (
	"slices"
	"strings"
	"sync"

	"relay/epic/each"
)

// Redactor replaces secrets by "[redacted NAME]", where NAME is the variable's or the rule's, and keeps the number of lines. It does not
// change its own output. Its zero value, and a nil one, know shapes only.
type Redactor struct {
	once   sync.Once
	env    []string
	values []value
}

// New returns the redactor for an environment, as entries NAME=value. Nothing is computed before the first text comes.
func New(environ []string) *Redactor { return &Redactor{env: environ} }

// Text blanks values and shapes. It expects text that was cut between words, if at all: see edge.
func (r *Redactor) Text(s string) string { return r.Except(s, nil) }

// Except is Text, but keeps secrets that are also in plan: that is the user's own text, and has to reach the agent.
func (r *Redactor) Except(s string, plan []byte) string {
	if len(s) < shortest {
		return s
	}
	spans := r.spans(s)
	spans = append(spans, shapes(s)...)
	return blank(s, spans, plan)
}

// Values blanks the values of variables alone, which costs next to nothing: for what was looked at before it was
// recorded, or is relay's own.
func (r *Redactor) Values(s string) string {
	if len(s) < shortest {
		return s
	}
	return blank(s, r.spans(s), nil)
}

func (r *Redactor) spans(s string) []span {
	if r == nil {
		return nil
	}
	r.once.Do(func() { r.values = valuesOf(r.env) })
	return find(s, r.values)
}

// span is a secret in a text.
type span struct {
	from, to int
	name     string
}

// blank replaces the spans. Of those that overlap the longest gives its name to the whole.
func blank(s string, spans []span, plan []byte) string {
	if len(plan) > 0 && len(spans) > 0 {
		own := squeeze(string(plan))
		spans = slices.DeleteFunc(spans, func(at span) bool { return strings.Contains(own.text, squeeze(s[at.from:at.to]).text) })
	}
	if len(spans) == 0 {
		return s
	}
	slices.SortStableFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	merged := spans[:1]
	for _, next := range spans[1:] {
		last := &merged[len(merged)-1]
		if next.from >= last.to {
			merged = append(merged, next)
			continue
		}
		if next.to-next.from > last.to-last.from {
			last.name = next.name
		}
		last.to = max(last.to, next.to)
	}
	var b strings.Builder
	pos := 0
	for _, at := range merged {
		b.WriteString(s[pos:at.from] + "[redacted " + at.name + "]" + strings.Repeat("\n", strings.Count(s[at.from:at.to], "\n")))
		pos = at.to
	}
	return b.String() + s[pos:]
}

// Match is a secret found in a text.
type Match struct {
	Rule string // or the name of the variable that has it
	Text string
}

// minValue is the length from which the value of a variable counts as a secret in files of a project: shorter ones are common words.
const minValue = 20

// Matches lists what has the shape of a token in a text, and long values of variables.
func (r *Redactor) Matches(s string) (list []Match) {
	if len(s) < shortest {
		return nil
	}
	list = each.Where(r.spans(s), func(at span) (Match, bool) { return Match{at.name, s[at.from:at.to]}, at.to-at.from >= minValue })
	return append(list, each.Of(shapes(s), func(at span) Match { return Match{at.name, s[at.from:at.to]} })...)
}
