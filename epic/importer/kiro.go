package importer

import (
	"path"
	"slices"
	"strings"

	"relay/internal/lazyregexp"
)

// kiro reads tasks.md of a spec of Kiro, with requirements.md beside it. Tasks are done in the order they stand in; one with parts of its
// own, as 1 with 1.1, is the group of these. Boxes with an asterisk are optional: they are left out, and told.
func kiro() Format {
	return Format{
		Name: "kiro", Tool: "Kiro",
		Files:  []string{".kiro/specs/*/tasks.md", "specs/*/tasks.md", "tasks.md"},
		claims: claimsKiro, read: readKiro,
	}
}

var (
	kiroWants       = lazyregexp.New(`^_?\s*Requirements?:\s*(.+?)_?$`)
	kiroNumber      = lazyregexp.New(`\d+(?:\.\d+)+`)
	kiroRequirement = lazyregexp.New(`(?i)^(?:requirement|要件|要求|需求)\s*(\d+)`)
	kiroClause      = lazyregexp.New(`^[ \t]*(\d+(?:\.\d+)?)[.)]?\s+(.+)$`)
)

func claimsKiro(s source) bool {
	if path.Base(s.name) != "tasks.md" {
		return false
	}
	list, err := s.lines()
	if err != nil {
		return false
	}
	wants := slices.ContainsFunc(list, func(l line) bool { return l.kind == itemLine && kiroWants.MatchString(strings.Trim(l.rest, "* ")) })
	return slices.ContainsFunc(list, func(l line) bool { return l.box != 0 && numberedItem.MatchString(l.rest) }) &&
		(wants || s.beside("requirements.md") != nil)
}

func readKiro(s source, d *draft) error {
	list, err := s.lines()
	if err != nil {
		return err
	}
	wanted := s.beside("requirements.md")
	criteria := kiroCriteria(wanted)
	title, list := firstHeading(list)
	d.title = title
	if feature := path.Base(path.Dir(s.name)); feature != "." {
		d.title = firstText(strings.TrimSpace(strings.ReplaceAll(feature, "-", " ")), title)
	}
	d.prose("", kiroIntroduction(wanted))
	_, design := firstHeading(s.beside("design.md"))
	d.prose("Design", design)
	entries, rest := checklist(list)
	d.prose("", rest)
	groups := map[string]*kiroGroup{}
	for i := range entries {
		if above := entries[i].parent(); above != "" {
			groups[above] = &kiroGroup{}
		}
	}
	for i := range entries {
		e := &entries[i]
		if g := groups[e.number]; g != nil && e.number != "" {
			g.name, g.said = groupName(e.number+" "+unformatted(e.title)), join(e.below)
			d.groups = append(d.groups, group{name: g.name})
			continue
		}
		d.kiroTask(e, criteria, groups)
	}
	d.chain(0)
	return nil
}

// kiroGroup is a task with parts.
type kiroGroup struct{ name, said string }

func (d *draft) kiroTask(e *entry, criteria map[string]string, groups map[string]*kiroGroup) {
	switch {
	case e.number == "":
		if !e.line.done() {
			d.tell(e.line.n, "this box has no number such as 1.2, so it is no task")
		}
		return
	case e.optional:
		d.tell(e.line.n, e.number+" is optional, and left out")
		return
	}
	it := &item{id: e.number, line: e.line.n, priority: normal, done: e.line.done(), title: unformatted(e.title)}
	var said []line
	for _, l := range e.below {
		m := kiroWants.FindStringSubmatch(strings.Trim(l.rest, "* "))
		if l.kind != itemLine || m == nil {
			said = append(said, l)
			continue
		}
		numbers := kiroNumber.FindAllString(m[1], -1)
		for _, n := range numbers {
			if text := criteria[n]; text != "" {
				it.criteria = append(it.criteria, n+": "+text)
			} else if it.open() {
				d.tell(l.n, "requirement "+n+" is not in requirements.md")
			}
		}
		if len(numbers) == 0 {
			it.description = append(it.description, "Requirements: "+m[1])
		}
	}
	if text := join(said); text != "" {
		it.description = append([]string{text}, it.description...)
	}
	if g := groups[e.parent()]; g != nil && g.name != "" {
		it.group = g.name
		it.description = append(it.description, strings.TrimSpace("Part of "+g.name+"\n\n"+g.said))
	}
	d.items = append(d.items, it)
}

// kiroCriteria returns the clauses of requirements.md by their numbers, 2.3 for the third of requirement 2.
func kiroCriteria(list []line) map[string]string {
	found := map[string]string{}
	requirement := ""
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
			continue
		}
		number := m[1]
		if !strings.Contains(number, ".") {
			number = requirement + "." + number
		}
		found[number] = unformatted(m[2])
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
