package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/epic/blueprint"
	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

var openspecSection = pattern.New(`^\d+\.?\s+\S`)

func claimsOpenspec(s source) bool {
	if path.Base(s.name) != "tasks.md" || s.beside("requirements.md") != nil {
		return false
	}
	change := s.beside("proposal.md") != nil
	numbered := slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Kind == markdown.Heading && l.Level == 2 && openspecSection.MatchString(l.Rest)
	})
	return slices.ContainsFunc(s.list, func(l markdown.Line) bool {
		return l.Box != 0 && (change || numbered && markdown.Numbered.MatchString(l.Rest))
	})
}

// readOpenspec reads a change folder of OpenSpec: tasks.md with numbered boxes in numbered sections, proposal.md beside it, and what the
// change wants in specs. Its tasks are done in their order: the form has no other.
func readOpenspec(s source, d *draft) {
	proposal := d.read(s, "proposal.md")
	companions(d, s, "", "", "proposal.md", "design.md")
	title, proposed := markdown.FirstHeading(proposal)
	change := path.Base(path.Dir(s.name))
	d.title = cmp.Or(strings.TrimSpace(strings.TrimPrefix(title, "Change:")), strings.TrimSpace(strings.TrimPrefix(s.title, "Tasks:")), change)
	d.prose("", proposed)
	_, design := markdown.FirstHeading(d.read(s, "design.md"))
	d.prose("Design", design)
	for _, name := range glob(s.files, path.Dir(s.name), "specs/*/spec.md") {
		change := strings.TrimPrefix(name, path.Dir(s.name)+"/")
		d.prose("Spec "+path.Base(path.Dir(name)), d.read(s, change))
	}
	before, sections := markdown.Cut(s.body, 2)
	openspecTasks(d, 0, markdown.Section{Body: before})
	for i, part := range sections {
		openspecTasks(d, i+1, part)
	}
	d.chain(d.items, false)
}

// openspecTasks takes the tasks of a section. Boxes below one, as 1.1.1 below 1.1, are tasks as well; those
// without a number are its criteria. Another without a number has that of its place.
func openspecTasks(d *draft, place int, part markdown.Section) {
	name := markdown.Unformatted(part.Heading.Rest)
	if blueprint.IsAside(name) {
		aside(d, name, part.Body)
		return
	}
	entries, rest := markdown.Checklist(work(d, part.Body))
	if len(entries) == 0 {
		d.prose(name, rest)
		return
	}
	first := len(d.items)
	column := 0
	for i, e := range entries {
		if n := len(d.items); n > first && e.Number == "" && e.Line.Indent > column {
			d.items[n-1].below(&e)
			continue
		}
		column = e.Line.Indent
		it := &item{
			id: cmp.Or(e.Number, fmt.Sprintf("%d.%d", place, i+1)), line: e.Line.N, priority: normal, group: groupName(name),
			done: e.Line.Done(), title: markdown.Unformatted(e.Title),
		}
		it.say(marked(e.Title), markdown.Join(e.Below))
		d.items = append(d.items, it)
	}
	d.share(d.items[first:], "", cmp.Or(titled(name, markdown.Join(rest)), partOf(name)))
	if name != "" {
		d.groups = append(d.groups, group{name: groupName(name)})
	}
}
