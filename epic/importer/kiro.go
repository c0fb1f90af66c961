package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"relay/epic/pattern"
)

var (
	kiroWants       = pattern.New(`^_?\s*Requirements?:\s*(.+?)_?$`)
	kiroReference   = pattern.New(`(\d+(?:\.\d+)*)(?:\s*[-–~〜]\s*(\d+(?:\.\d+)*))?`)
	kiroNumbers     = pattern.New(`^(?:[\d\s.,;&~〜–-]|and)+$`)
	kiroRequirement = pattern.New(`(?i)^(?:requirement|要件|要求|需求)\s*(\d+)`)
	kiroClause      = pattern.New(`^[ \t]*(\d+(?:\.\d+)?)[.)]?\s+(.+)$`)
)

func claimsKiro(s source) bool {
	wants := slices.ContainsFunc(s.list, func(l line) bool { return l.kind == itemLine && kiroWants.MatchString(strings.Trim(l.rest, "* ")) })
	boxed := slices.ContainsFunc(s.list, func(l line) bool { return l.box != 0 && numberedItem.MatchString(l.rest) })
	return path.Base(s.name) == "tasks.md" && boxed && (wants || s.beside("requirements.md") != nil)
}

// readKiro reads tasks.md of a spec of Kiro, with requirements.md beside it. Tasks are done in the order they stand in; one with parts of
// its own, as 1 with 1.1, is the group of these. Boxes with an asterisk are optional: they are left out, and told.
func readKiro(s source, d *draft) {
	wanted := d.read(s, "requirements.md")
	criteria := kiroCriteria(wanted)
	companions(d, s, "requirements.md", "its introduction and the clauses that tasks name", "design.md")
	d.title = s.title
	if feature := path.Base(path.Dir(s.name)); feature != "." {
		d.title = cmp.Or(strings.TrimSpace(strings.ReplaceAll(feature, "-", " ")), s.title)
	}
	d.prose("", kiroIntroduction(wanted))
	_, design := firstHeading(d.read(s, "design.md"))
	d.prose("Design", design)
	entries, rest := checklist(s.body)
	d.prose("", rest)
	r := kiroReader{d: d, criteria: criteria, groups: map[string]*kiroGroup{}}
	for i := range entries {
		if above := entries[i].parent(); above != "" {
			r.groups[above] = &kiroGroup{}
		}
	}
	for i := range entries {
		r.entry(&entries[i])
	}
	for _, g := range r.order {
		d.share(g.items, "Part of "+g.name, g.said)
		if g.open && len(g.items) > 0 && lastOpen(g.items) == nil {
			d.tell(g.line, clip(g.name, 60)+" is open, and all of its parts are done: it is left out")
		}
	}
	d.chain(d.items, false)
}

// kiroReader goes through the boxes.
type kiroReader struct {
	d *draft

	criteria map[string]string
	groups   map[string]*kiroGroup // by their numbers
	order    []*kiroGroup
	last     *item
	column   int // of its box
}

// kiroGroup is a task with parts.
type kiroGroup struct {
	name, said string
	line       int
	open       bool
	items      []*item
}

// entry takes a box: a task, the group of the tasks that are its parts, or, further in and without a number, a part of the task above.
func (r *kiroReader) entry(e *entry) {
	title := unformatted(e.title)
	if g := r.groups[e.number]; g != nil && e.number != "" {
		if g.name == "" {
			g.name, g.said, g.line, g.open = groupName(e.number+" "+title), join(e.below), e.line.n, !e.line.done()
			r.d.groups, r.order = append(r.d.groups, group{name: g.name}), append(r.order, g)
		} else {
			r.d.tell(e.line.n, "the number "+clip(e.number, 40)+" is in line "+strconv.Itoa(g.line)+" as well: briefs leave this one out")
		}
		return
	}
	switch {
	case e.number == "" && r.last != nil && e.line.indent > r.column:
		if !e.line.done() {
			r.last.below(e)
		}
		return
	case e.optional && !e.line.done():
		r.d.tell(e.line.n, clip(cmp.Or(e.number, title), 60)+" is optional, and left out")
		return
	}
	it := &item{id: cmp.Or(e.number, clip(title, 60)), line: e.line.n, priority: normal, done: e.line.done(), title: title}
	if e.number == "" {
		it.as = fmt.Sprintf("T%d", len(r.d.items)+1)
	}
	r.last, r.column = it, e.line.indent
	r.detail(it, e.below)
	if g := r.groups[e.parent()]; g != nil && g.name != "" {
		it.group = g.name
		g.items = append(g.items, it)
	}
	r.d.items = append(r.d.items, it)
}

// detail takes what stands below a task.
func (r *kiroReader) detail(it *item, below []line) {
	var said, other []line
	for _, l := range below {
		m := kiroWants.FindStringSubmatch(strings.Trim(l.rest, "* "))
		if l.kind != itemLine || m == nil {
			said = append(said, l)
			continue
		}
		pure := kiroNumbers.MatchString(m[1])
		if !pure {
			other = append(other, l)
		}
		for _, n := range r.wanted(m[1], pure) {
			if text := r.criteria[n]; text != "" {
				it.criteria = append(it.criteria, n+": "+text)
			} else if it.open() {
				r.d.tell(l.n, "requirement "+clip(n, 40)+" is not in requirements.md")
			}
		}
	}
	it.say(join(said), join(other))
}

// mostClauses bounds what is taken for the clauses of one requirement.
const mostClauses = 200

// wanted returns the numbers of the clauses that a text names: 1.2, those from 2.1 to 2.6, and where it has nothing but numbers all of
// requirement 3.
func (r *kiroReader) wanted(text string, pure bool) (numbers []string) {
	for _, m := range kiroReference.FindAllStringSubmatch(text, -1) {
		above, first, dotted := strings.Cut(m[1], ".")
		to := first
		if end := strings.TrimPrefix(m[2], above+"."); end != "" && end != m[2] {
			to = end
		}
		from, _ := strconv.Atoi(first)
		last, _ := strconv.Atoi(to)
		switch {
		case !dotted && !pure:
		case !dotted:
			before := len(numbers)
			for k := 1; k <= mostClauses && r.criteria[fmt.Sprintf("%s.%d", above, k)] != ""; k++ {
				numbers = append(numbers, fmt.Sprintf("%s.%d", above, k))
			}
			if len(numbers) == before {
				numbers = append(numbers, above)
			}
		case last > from && last-from < mostClauses:
			for k := from; k <= last; k++ {
				numbers = append(numbers, fmt.Sprintf("%s.%d", above, k))
			}
		default:
			numbers = append(numbers, m[1])
		}
	}
	return numbers
}

// kiroCriteria returns the clauses of requirements.md by their numbers, 2.3 for the third of requirement 2.
func kiroCriteria(list []line) map[string]string {
	found := map[string]string{}
	requirement, last := "", ""
	for _, l := range list {
		text := unformatted(l.rest)
		if l.kind == headingLine {
			if m := kiroRequirement.FindStringSubmatch(text); m != nil {
				requirement = m[1]
			}
			continue
		}
		m := kiroClause.FindStringSubmatch(l.text)
		if m == nil || requirement == "" {
			if l.kind == plainLine && last != "" { // a clause that goes on
				found[last] += " " + unformatted(l.text)
			} else {
				last = ""
			}
			continue
		}
		number := m[1]
		if !strings.Contains(number, ".") {
			number = requirement + "." + number
		}
		found[number], last = unformatted(m[2]), number
	}
	return found
}

// kiroIntroduction returns what requirements.md says before the first requirement.
func kiroIntroduction(list []line) []line {
	_, list = firstHeading(list)
	for i, l := range list {
		if l.kind == headingLine && kiroRequirement.MatchString(unformatted(l.rest)) {
			return list[:i]
		}
	}
	return nil
}
