package records

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/epic/each"
	"relay/epic/plaintext"
)

const (
	mostItems = 100 // of a list
	longItem  = 500 // bytes
	longText  = 4 << 10
	notStated = "not stated" // stands for a missing text that the format requires
)

// line returns a text in one line of at most 500 bytes.
func line(s string) string {
	return clip(strings.Join(strings.Fields(s), " "), longItem)
}

func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	const more = " …"
	return strings.TrimSpace(plaintext.Head(s, most-len(more))) + more
}

// stated returns the first text that is not empty, or notStated.
func stated(texts ...string) string {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			return clip(s, longText)
		}
	}
	return notStated
}

// list gathers lines of text, each once, and counts those that there is no room for.
type list struct {
	lines []string
	more  int
}

func (l *list) add(format string, args ...any) {
	switch s := line(fmt.Sprintf(format, args...)); {
	case s == "" || slices.Contains(l.lines, s):
	case len(l.lines) >= mostItems:
		l.more++
	default:
		l.lines = append(l.lines, s)
	}
}

// all returns the lines; the last one says how many are left out.
func (l *list) all() []string {
	if l.more > 0 {
		return append(slices.Clip(l.lines), fmt.Sprintf("… and %d more", l.more))
	}
	return l.lines
}

// listOf returns the lines of all lists, each of its most, and says how many are left out.
func listOf(lists ...[]string) []string {
	l := list{}
	for _, text := range slices.Concat(lists...) {
		l.add("%s", text)
	}
	return l.all()
}

// decided returns decisions with their reasons, in the order of what they are about.
func decided(decisions map[string]string) []string {
	return each.Of(sortedKeys(decisions), func(what string) string { return line(what + ": " + decisions[what]) })
}

// last returns the end of a list, with no more items than most.
func last[T any](list []T, most int) []T { return slices.Clone(list[max(len(list)-most, 0):]) }

// table gathers texts under names, and leaves out those that there is no room for.
type table map[string]string

func (t table) set(name, value string) {
	if value == "" || len(t) >= mostItems {
		return
	}
	t[line(name)] = clip(value, longText)
}

// setAll sets texts under their names, with something before these.
func (t table) setAll(before string, texts map[string]string) {
	for _, name := range sortedKeys(texts) {
		t.set(before+name, texts[name])
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func at(branch, commit string) string {
	switch {
	case branch == "":
		return commit
	case commit == "":
		return branch
	}
	return branch + " at " + commit
}

func short(commit string) string { return commit[:min(len(commit), 12)] }
