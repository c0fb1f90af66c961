package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

var (
	kiroWants     = pattern.New(`^_?\s*Requirements?:\s*(.+?)_?$`)
	kiroReference = pattern.New(`(\d+(?:\.\d+)*)(?:\s*[-–~〜]\s*(\d+(?:\.\d+)*))?`)
	kiroTest      = pattern.New(`(?i)^(?:write|add)\b.*\btests?\b|^test\b`)
	kiroNumbers   = pattern.New(`^(?:[\d\s.,;&~〜–-]|and)+$`)
)

func claimsKiro(s source) bool {
	wants := slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Kind == markdown.Item && kiroWants.MatchString(strings.Trim(l.Rest, "* "))
	})
	boxed := slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Box != 0 && markdown.Numbered.MatchString(l.Rest) })
	return path.Base(s.name) == "tasks.md" && boxed && (wants || s.has("requirements.md"))
}

// readKiro reads tasks.md of a spec of Kiro, with requirements.md beside it. Tasks are done in the order they stand in; one with parts of
// its own, as 1 with 1.1, is the group of these. Boxes with an asterisk are optional: they are left out, and told.
func readKiro(s source, d *draft) {
	criteria, intro := markdown.Requirements(d.read(s, s.beside("requirements.md")))
	companions(d, s, "requirements.md", "its introduction and the clauses that tasks name", "design.md")
	d.title = s.title
	if feature := path.Base(path.Dir(s.name)); feature != "." {
		d.title = cmp.Or(strings.TrimSpace(strings.ReplaceAll(feature, "-", " ")), s.title)
	}
	d.prose("", intro)
	_, design := markdown.FirstHeading(d.read(s, s.beside("design.md")))
	d.prose("Design", design)
	entries, rest := markdown.Checklist(s.body)
	d.prose("", rest)
	r := kiroReader{d: d, criteria: criteria, groups: map[string]*kiroGroup{}}
	parts, tests := map[string]int{}, map[string]int{}
	for i := range entries {
		e := &entries[i]
		if parts[e.Parent()]++; e.Optional || kiroTest.MatchString(e.Title) {
			tests[e.Parent()]++
		}
	}
	for i := range entries {
		// One with text whose parts only test it is a task before them.
		if e := &entries[i]; parts[e.Number] > tests[e.Number] || parts[e.Number] > 0 && markdown.Join(e.Below) == "" {
			r.groups[e.Number] = &kiroGroup{}
		}
	}
	for i := range entries {
		r.entry(&entries[i])
	}
	for _, g := range r.order {
		d.share(g.items, "Part of "+g.name, g.said)
		if g.open && len(g.items) > 0 && lastOpen(g.items) == nil {
			d.tell(g.line, markdown.Clip(g.name, 60)+" is open, and all of its parts are done: it is left out")
		}
	}
	d.chain(d.items)
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
func (r *kiroReader) entry(e *markdown.Entry) {
	title, parallel := strings.CutPrefix(markdown.Unformatted(e.Title), "(P) ")
	if g := r.groups[e.Number]; e.Number != "" && g != nil {
		if g.name == "" {
			g.name, g.said, g.line, g.open = markdown.GroupName(e.Number+" "+title), markdown.Join(e.Below), e.Line.N, !e.Line.Done()
			r.order = append(r.order, g)
		} else {
			r.d.tell(e.Line.N, "the number "+markdown.Clip(e.Number, 40)+" is in line "+strconv.Itoa(g.line)+" as well: briefs leave this one out")
		}
		return
	}
	switch {
	case e.Number == "" && r.last != nil && e.Line.Indent > r.column:
		if !e.Line.Done() {
			r.last.below(e)
		}
		return
	case e.Optional && !e.Line.Done():
		r.d.tell(e.Line.N, markdown.Clip(cmp.Or(e.Number, title), 60)+" is optional, and left out")
		return
	}
	it := &item{id: cmp.Or(e.Number, markdown.Clip(title, 60)), line: e.Line.N, priority: normal, done: e.Line.Done(), title: title}
	if parallel {
		it.beside = "of " + e.Parent()
	}
	if e.Number == "" {
		it.as = fmt.Sprintf("T%d", len(r.d.items)+1)
	}
	r.last, r.column = it, e.Line.Indent
	r.detail(it, e.Below)
	if g := r.groups[e.Parent()]; g != nil && g.name != "" {
		it.group = g.name
		g.items = append(g.items, it)
	}
	r.d.items = append(r.d.items, it)
}

// detail takes what stands below a task.
func (r *kiroReader) detail(it *item, below []markdown.Line) {
	var said, other []markdown.Line
	for _, l := range below {
		m := kiroWants.FindStringSubmatch(strings.Trim(l.Rest, "* "))
		if l.Kind != markdown.Item || m == nil {
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
				r.d.tell(l.N, "requirement "+markdown.Clip(n, 40)+" is not in requirements.md")
			}
		}
	}
	it.say(markdown.Join(said), markdown.Join(other))
}

// mostClauses bounds what is taken for the clauses of one requirement.
const mostClauses = 200

// wanted returns the numbers of the clauses that a text names: 1.2, those from 2.1 to 2.6, and where it has nothing but numbers all of
// requirement 3.
func (r *kiroReader) wanted(text string, pure bool) (numbers []string) {
	for _, m := range kiroReference.FindAllStringSubmatch(text, -1) {
		switch dotted := strings.Contains(m[1], "."); {
		case !dotted && !pure:
		case !dotted && r.criteria[m[1]+".1"] != "":
			for k := 1; k <= mostClauses && r.criteria[fmt.Sprintf("%s.%d", m[1], k)] != ""; k++ {
				numbers = append(numbers, fmt.Sprintf("%s.%d", m[1], k))
			}
		case !dotted:
			numbers = append(numbers, m[1])
		default:
			numbers = append(numbers, markdown.Range(m[1], m[2])...)
		}
	}
	return numbers
}
