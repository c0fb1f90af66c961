package importer

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/internal/lazyregexp"
)

// openspec reads a change folder of OpenSpec: tasks.md with numbered boxes in numbered sections, proposal.md beside it, and what the
// change wants in specs. Its tasks are done in their order: the form has no other.
func openspec() Format {
	return Format{
		Name: "openspec", Tool: "OpenSpec",
		Files:  []string{"openspec/changes/*/tasks.md", "changes/*/tasks.md", "tasks.md"},
		claims: claimsOpenspec, read: readOpenspec,
	}
}

var openspecSection = lazyregexp.New(`^\d+\.?\s+\S`)

func claimsOpenspec(s source) bool {
	if path.Base(s.name) != "tasks.md" {
		return false
	}
	list, err := s.lines()
	if err != nil || s.beside("requirements.md") != nil {
		return false
	}
	change := s.beside("proposal.md") != nil
	numbered := slices.ContainsFunc(list, func(l line) bool {
		return l.kind == headingLine && l.level == 2 && openspecSection.MatchString(l.rest)
	})
	return slices.ContainsFunc(list, func(l line) bool { return l.box != 0 && (change || numbered && numberedItem.MatchString(l.rest)) })
}

func readOpenspec(s source, d *draft) error {
	list, err := s.lines()
	if err != nil {
		return err
	}
	proposal := d.read(s, "proposal.md")
	d.companions(s, "", "", "proposal.md", "design.md")
	title, proposed := firstHeading(proposal)
	own, list := firstHeading(list)
	change := path.Base(path.Dir(s.name))
	d.title = firstText(strings.TrimSpace(strings.TrimPrefix(title, "Change:")), strings.TrimSpace(strings.TrimPrefix(own, "Tasks:")), change)
	d.prose("", proposed)
	_, design := firstHeading(d.read(s, "design.md"))
	d.prose("Design", design)
	for _, name := range glob(s.files, path.Dir(s.name), "specs/*/spec.md") {
		change := strings.TrimPrefix(name, path.Dir(s.name)+"/")
		d.prose("Spec "+path.Base(path.Dir(name)), d.read(s, change))
	}
	before, sections := cut(list, 2)
	d.openspecSection(0, section{body: before})
	for i, part := range sections {
		d.openspecSection(i+1, part)
	}
	d.chain(0)
	return nil
}

// openspecSection takes the tasks of a section. Boxes below one, as 1.1.1 below 1.1, are tasks as well; one without a number has that
// of its place.
func (d *draft) openspecSection(place int, part section) {
	entries, rest := checklist(part.body)
	name := unformatted(part.heading.rest)
	if len(entries) == 0 {
		d.prose(name, rest)
		return
	}
	for i, e := range entries {
		it := &item{
			id: firstText(e.number, fmt.Sprintf("%d.%d", place, i+1)), line: e.line.n, priority: normal, group: groupName(name),
			done: e.line.done(), title: unformatted(e.title),
		}
		it.say(marked(e.title), join(e.below))
		d.items = append(d.items, it)
	}
	d.share(d.items[len(d.items)-len(entries):], name, join(rest))
	if name != "" {
		d.groups = append(d.groups, group{name: groupName(name)})
	}
}

// firstText returns the first text that is not empty.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
