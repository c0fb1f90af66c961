// Package names finds tasks by what a plan calls them: ids, numbers, ranges and titles.
package names

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"relay/epic/blueprint/inline"
	"relay/epic/pattern"
)

// Names finds tasks by what a plan calls them.
type Names struct {
	IDs    map[string]string // by names in lower case
	sorted []string          // the keys of IDs
	all    []string          // the tasks by their numbers, once a range is asked for
}

// Of returns the names of tasks, or of other things by their ids and titles.
func Of(ids, titles []string) *Names {
	n := &Names{IDs: map[string]string{}}
	add := func(name, id string) { n.IDs[name] = cmp.Or(n.IDs[name], id) }
	for _, id := range ids { // an id comes before one like it, and before a title
		n.IDs[strings.ToLower(id)] = id
	}
	for _, id := range ids {
		add(Key(id), id)
	}
	for i, title := range titles {
		short, _, _ := strings.Cut(strings.ToLower(title), ": ")
		add(short, ids[i])
		add(strings.ToLower(title), ids[i])
	}
	n.sorted = slices.Sorted(maps.Keys(n.IDs))
	return n
}

// Also has a name mean a task, unless it means one already.
func (n *Names) Also(name, id string) {
	for _, name := range []string{strings.ToLower(name), Key(name)} {
		n.IDs[name] = cmp.Or(n.IDs[name], id)
	}
}

var (
	// Digits matches a number.
	Digits = pattern.New(`[0-9]+`)
	// reference is the id or number of a task, with the word before it: T1, T-01, Task 3, #3, 1.2.
	reference = pattern.New(`(?:(\pL+)[ \t]+)?#?\b((?:[A-Z]{1,6}-)?[A-Za-z]{0,12}[-_]?[0-9]{1,6}(?:[.-](?:[A-Z]?[0-9]{1,4}|[A-Z])){0,3}[a-zA-Z]?|[A-Z]{1,6}-[A-Z])\b`)
	// between is what stands between references of one list, and through between the ends of a range.
	between = pattern.New("^(?i:[ \\t,;&+/*`#~–—.、，-]|和|与|and|or|to|through|bis|e|y|et|und|tasks?|steps?|stor(?:y|ies))*$")
	// words may stand before the number of a task.
	words   = pattern.New("^(?i:and|or|to|through|bis|e|y|et|und|tasks?|steps?|stor(?:y|ies))$")
	through = pattern.New("^(?i:[ \\t*`]*(?:[-–—~]+|[.]{2,}|to|through|bis)[ \\t*`]*(?:tasks?[ \\t]*)?)$")
	beside  = pattern.New(`(?i)\b(?:not|independent|parallel|optional(?:ly)?|ideally|(?:un)?blocks?|(?:needed|required) (?:by|for))\b`)
	// Bracket matches words in brackets.
	Bracket  = pattern.New(`[ \t]*\([^()]*\)`)
	listed   = pattern.New(`[;，、]|[ \t](?:and|&|und|y|et)[ \t]`)
	idPrefix = pattern.New(`([a-z])[-_]([0-9])`)
)

// ID returns the id of a task that has only a number: T1 of 1, T1-2 of 1.2.
func ID(number string) string {
	if number != "" && number[0] <= '9' {
		number = "T" + number
	}
	return strings.ReplaceAll(number, ".", "-")
}

// Key returns the same for ids that people take for one: T1, t-01; 1.2 and T1-2.
func Key(id string) string {
	id = idPrefix.ReplaceAllString(strings.ToLower(ID(id)), "$1$2")
	return Digits.ReplaceAllStringFunc(id, func(n string) string { return cmp.Or(strings.TrimLeft(n, "0"), "0") })
}

// Find returns the tasks that a text names: by an id or heading, or all of a range such as T1–T4.
func (n *Names) Find(text string) (found []string) {
	text = inline.Plain(Bracket.ReplaceAllString(text, ""))
	if id := cmp.Or(n.IDs[strings.ToLower(text)], n.begins(text)); id != "" {
		return []string{id}
	}
	last, end := "", 0
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		word, name := m[1], m[2]
		at := end + strings.Index(text[end:], m[0]) + len(m[0])
		gap := strings.TrimSuffix(text[end:at], name)
		if end == 0 && beside.MatchString(gap) || end > 0 && !between.MatchString(gap) && !words.MatchString(strings.TrimSpace(gap)) {
			break
		}
		id := cmp.Or(n.IDs[strings.ToLower(name)], n.IDs[Key(name)], n.IDs[Key(strings.TrimRight(name, "abcdef"))]) // T1b may be a part of T1
		if name[0] <= '9' && word != "" && !words.MatchString(word) {
			id = n.IDs[strings.ToLower(word+" "+name)] // else it is one of something else
		}
		from, to, _ := strings.Cut(name, "-")
		switch {
		case id == "":
			found = append(found, n.span(n.IDs[Key(from)], n.IDs[Key(to)])...)
		case through.MatchString(gap):
			found = append(found, n.span(last, id)...)
		default:
			found = append(found, id)
		}
		last, end = id, at
	}
	return found
}

// List returns the tasks that a text names, by their ids or one by one by their titles, and what looks like the id of one.
func (n *Names) List(text string) (found []string) {
	found = n.Find(text)
	whole := len(found) > 0
	for part := range strings.SplitSeq(listed.ReplaceAllString(Bracket.ReplaceAllString(text, ""), ","), ",") {
		switch one := n.Find(part); {
		case len(one) == 0 && Only(part):
			found = append(found, First(part))
		case !whole:
			found = append(found, one...)
		}
	}
	return found
}

// First is the first id in a text as a task may have it; all of the text if there is none.
func First(text string) string {
	if m := reference.FindStringSubmatch(text); m != nil {
		return ID(m[2])
	}
	return text
}

// Only reports whether a text is nothing but references to tasks: T1, `T2` and task 3.
func Only(text string) bool {
	rest := reference.ReplaceAllStringFunc(text, func(ref string) string {
		if m := reference.FindStringSubmatch(ref); m[1] == "" || words.MatchString(m[1]) {
			return ""
		}
		return ref
	})
	return rest != text && between.MatchString(rest)
}

// span returns the tasks from one to another.
func (n *Names) span(from, to string) []string {
	if from == "" || to == "" {
		return nil
	}
	if n.all == nil {
		n.all = slices.Compact(slices.SortedFunc(maps.Values(n.IDs), byNumber))
	}
	begin, _ := slices.BinarySearchFunc(n.all, from, byNumber)
	end, _ := slices.BinarySearchFunc(n.all, to, byNumber)
	return slices.Clone(n.all[begin:max(begin, min(end+1, len(n.all)))])
}

// begins returns the only task whose title begins with the words of a reference.
func (n *Names) begins(ref string) (id string) {
	ref = strings.ToLower(ref)
	for i, _ := slices.BinarySearch(n.sorted, ref); len(ref) > 3 && i < len(n.sorted); i++ {
		rest, begins := strings.CutPrefix(n.sorted[i], ref)
		of := n.IDs[n.sorted[i]]
		if !begins || strings.IndexFunc(rest, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) == 0 {
			break
		}
		if id != "" && id != of {
			return ""
		}
		id = of
	}
	return id
}

func byNumber(a, b string) int { return strings.Compare(Padded(a), Padded(b)) }

// Padded makes an id that comes behind another one where its number is greater.
func Padded(id string) string {
	return Digits.ReplaceAllStringFunc(id, func(n string) string { return fmt.Sprintf("%9s", n) })
}
