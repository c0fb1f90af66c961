package blueprint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/internal/inline"
	"relay/epic/pattern"
)

// names finds tasks by what a plan calls them.
type names struct {
	ids    map[string]string
	sorted []string        // the keys of ids
	all    []string        // the tasks by their numbers, once a range is asked for
	words  *pattern.Regexp // that may stand before a number
}

func newNames(drafts []*draft) *names {
	ids := map[string]string{}
	add := func(name, id string) { ids[name] = cmp.Or(ids[name], id) }
	for _, d := range drafts { // an id comes before one like it, and before a title
		ids[strings.ToLower(d.task.ID)] = d.task.ID
	}
	for _, d := range drafts {
		add(idKey(d.task.ID), d.task.ID)
	}
	for _, d := range drafts {
		title := strings.ToLower(d.task.Title)
		short, _, _ := strings.Cut(title, ": ")
		add(short, d.task.ID)
		add(title, d.task.ID)
	}
	return &names{ids: ids, sorted: slices.Sorted(maps.Keys(ids)), words: numbers}
}

var (
	digits = pattern.New(`[0-9]+`)
	// reference is the id or number of a task, with the word before it: T1, T-01, Task 3, #3, 1.2.
	reference = pattern.New(`(?:(\pL+)[ \t]+)?#?\b([A-Za-z]{0,12}[-_]?[0-9]{1,6}(?:[.-][0-9]{1,4}){0,3}[a-z]?)\b`)
	// between is what stands between references of one list, and through between the ends of a range.
	between  = pattern.New("^(?i:[ \\t,;&+/*`#~–—.-]|and|or|to|through|e|y|et|und|tasks?|steps?|stor(?:y|ies))*$")
	numbers  = pattern.New("^(?i:and|or|to|through|e|y|et|und|tasks?|steps?|stor(?:y|ies))$")
	through  = pattern.New("^(?i:[ \\t*`]*(?:[-–—~]+|[.]{2,}|to|through)[ \\t*`]*(?:tasks?[ \\t]*)?)$")
	beside   = pattern.New(`(?i)\b(?:not|independent|parallel|optional(?:ly)?|ideally|(?:un)?blocks?|(?:needed|required) (?:by|for))\b`)
	bracket  = pattern.New(`[ \t]*\([^()]*\)`)
	idPrefix = pattern.New(`^([a-z]+)[-_]([0-9])`)
)

// numberID is the id of a task that has only a number: T1 of 1, T1-2 of 1.2.
func numberID(number string) string {
	if number != "" && number[0] <= '9' {
		number = "T" + number
	}
	return strings.ReplaceAll(number, ".", "-")
}

// idKey is the same for ids that people take for one: T1, t-01; 1.2 and T1-2.
func idKey(id string) string {
	id = idPrefix.ReplaceAllString(strings.ToLower(numberID(id)), "$1$2")
	return digits.ReplaceAllStringFunc(id, func(n string) string { return cmp.Or(strings.TrimLeft(n, "0"), "0") })
}

// find returns the tasks that a text names: by an id or heading, or all of a range such as T1–T4.
func (n *names) find(text string) (found []string) {
	text = inline.Plain(bracket.ReplaceAllString(text, ""))
	if id := cmp.Or(n.ids[strings.ToLower(text)], n.begins(text)); id != "" {
		return []string{id}
	}
	last, end := "", 0
	for _, m := range reference.FindAllStringSubmatch(text, -1) {
		word, name := m[1], m[2]
		at := end + strings.Index(text[end:], m[0]) + len(m[0])
		gap := strings.TrimSuffix(text[end:at], name)
		if end == 0 && beside.MatchString(gap) || end > 0 && !between.MatchString(gap) && !n.words.MatchString(strings.TrimSpace(gap)) {
			break
		}
		id := n.ids[strings.ToLower(name)]
		if id = cmp.Or(id, n.ids[idKey(name)]); name[0] <= '9' && word != "" && !n.words.MatchString(word) {
			id = "" // of something else
		}
		from, to, _ := strings.Cut(name, "-")
		switch {
		case id == "":
			found = append(found, n.span(n.ids[idKey(from)], n.ids[idKey(to)])...)
		case through.MatchString(gap):
			found = append(found, n.span(last, id)...)
		default:
			found = append(found, id)
		}
		last, end = id, at
	}
	return found
}

// firstID is the first id in a text as a task may have it; all of the text if there is none.
func firstID(text string) string {
	if m := reference.FindStringSubmatch(text); m != nil {
		return numberID(m[2])
	}
	return text
}

// onlyTasks reports whether a text is nothing but references to tasks: T1, `T2` and task 3.
func onlyTasks(text string) bool {
	rest := reference.ReplaceAllStringFunc(text, func(ref string) string {
		if m := reference.FindStringSubmatch(ref); m[1] == "" || numbers.MatchString(m[1]) {
			return ""
		}
		return ref
	})
	return rest != text && between.MatchString(rest)
}

// span returns the tasks from one to another.
func (n *names) span(from, to string) []string {
	if from == "" || to == "" {
		return nil
	}
	if n.all == nil {
		n.all = slices.Compact(slices.SortedFunc(maps.Values(n.ids), byNumber))
	}
	begin, _ := slices.BinarySearchFunc(n.all, from, byNumber)
	end, _ := slices.BinarySearchFunc(n.all, to, byNumber)
	return slices.Clone(n.all[begin:max(begin, min(end+1, len(n.all)))])
}

// begins returns the only task whose title begins with the words of a reference.
func (n *names) begins(ref string) (id string) {
	ref = strings.ToLower(ref)
	for i, _ := slices.BinarySearch(n.sorted, ref); len(ref) > 3 && i < len(n.sorted); i++ {
		rest, begins := strings.CutPrefix(n.sorted[i], ref)
		of := n.ids[n.sorted[i]]
		if !begins || strings.IndexFunc(rest, isWord) == 0 {
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
	return digits.ReplaceAllStringFunc(id, func(n string) string { return fmt.Sprintf("%9s", n) })
}

// settleReferences puts the ids of tasks in the place of what the plan calls them, and leaves out tasks that are done. It reports names
// that are not like those of tasks; validation reports the others. It returns whether tasks have an order of their own.
func settleReferences(p *parser) (asked bool) {
	asked = slices.ContainsFunc(p.drafts, func(d *draft) bool { return d.given["depends on"] || ours(d) })
	p.known, p.gone = newNames(p.drafts), map[string]bool{}
	known, done, boxed, ids := p.known, p.gone, map[string]bool{}, slices.Sorted(maps.Values(p.known.ids))
	for _, d := range p.drafts {
		boxed[d.task.ID] = d.boxes > d.ticked // they say more than a mark, which may mean that the plan was checked
		if done[d.task.ID] = d.done() || IsDeferred(d.task.Title); done[d.task.ID] && !d.done() {
			p.skip(d.task.Line, "%s is left out, as its title says", d.task.ID)
		}
	}
	for _, row := range p.states { // cells behind the task's name others
		id := func(cell line) string { return known.ids[strings.ToLower(inline.Plain(cell.text))] }
		at := slices.IndexFunc(row.cells, func(cell line) bool { return id(cell) != "" })
		if at >= 0 && (row.words || !boxed[id(row.cells[at])]) {
			done[id(row.cells[at])] = true
		}
	}
	for _, d := range p.drafts {
		d.settle(p, known, ids, done)
	}
	p.drafts = slices.DeleteFunc(p.drafts, func(d *draft) bool {
		if done[d.task.ID] && (d.done() || !IsDeferred(d.task.Title)) {
			p.done = append(p.done, "- "+d.task.Title)
		}
		return done[d.task.ID]
	})
	return asked
}

// settle settles what a task waits for.
func (d *draft) settle(p *parser, known *names, ids []string, done map[string]bool) {
	var list []string
	var at []epic.Place
	for k, ref := range d.task.DependsOn {
		found := known.find(ref)
		if len(found) == 0 && !isLike(ref, ids) && !(onlyTasks(ref) && isLike(firstID(ref), ids)) {
			p.skip(d.at[epic.FieldDependsOn][k].Line, "%s waits for %s, which is not a task of this plan", d.task.ID, epic.Quoted(ref))
			continue
		}
		if len(found) == 0 {
			found = []string{firstID(ref)}
		}
		for _, id := range found {
			if !done[id] && (id != d.task.ID || len(found) == 1) && !slices.Contains(list, id) {
				list, at = append(list, id), append(at, d.at[epic.FieldDependsOn][k])
			}
		}
	}
	d.task.DependsOn, d.at[epic.FieldDependsOn] = list, at
}

// isLike reports whether a reference is most likely meant for one of some ids.
func isLike(ref string, ids []string) bool {
	stem := func(id string) string { return strings.ToLower(strings.TrimRight(id, "0123456789.-")) }
	_, near := epic.Nearest(ref, ids)
	return near || stem(ref) != strings.ToLower(ref) && slices.ContainsFunc(ids, func(id string) bool { return stem(id) == stem(ref) })
}
