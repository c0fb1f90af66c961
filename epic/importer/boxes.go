package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
)

func claimsBoxes(s source) bool {
	return s.unclaimed() && slices.ContainsFunc(s.list, func(l line) bool { return l.box != 0 })
}

// unclaimed reports whether a file is a text in which no blueprint has a task.
func (s source) unclaimed() bool {
	text := slices.Contains([]string{".md", ".markdown", ".txt", ""}, strings.ToLower(path.Ext(s.name)))
	return text && !blueprint.HasTasks(s.data)
}

// readBoxes reads any markdown with a checklist, as the text of an issue has it: an open box is a task, the boxes below it are its
// criteria. Boxes with numbers are done in their order; others have none.
func readBoxes(s source, d *draft) {
	d.title = cmp.Or(unformatted(s.title), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	for _, part := range headed(s.body) {
		boxesOf(d, part)
	}
}

// headed cuts a text at its headings, of whatever level. The first part has none.
func headed(list []line) []section {
	parts := []section{{}}
	for _, l := range list {
		if l.kind == headingLine {
			parts = append(parts, section{heading: l})
			continue
		}
		last := &parts[len(parts)-1]
		last.body = append(last.body, l)
	}
	return parts
}

// boxesOf takes the tasks of a section. The text around them becomes part of the description of the epic.
func boxesOf(d *draft, part section) {
	entries, rest := checklist(part.body)
	name := unformatted(part.heading.rest)
	d.prose(name, rest)
	var owner *item
	var before *item // with a number
	column := 0
	for i := range entries {
		e := &entries[i]
		if owner != nil && e.line.indent > column {
			owner.below(e)
			continue
		}
		it := boxItem(d, e, name)
		if e.number != "" {
			if before != nil {
				it.follow(before)
			}
			if it.open() {
				before = it
			}
		}
		owner, column = it, e.line.indent
	}
}

// boxItem adds the task of a box.
func boxItem(d *draft, e *entry, section string) *item {
	it := &item{
		id: clip(unformatted(e.title), 60), as: fmt.Sprintf("T%d", len(d.items)+1), line: e.line.n, priority: normal,
		title: unformatted(e.title), done: e.line.done(),
	}
	it.say(marked(e.title), join(e.below))
	it.say(partOf(section))
	d.items = append(d.items, it)
	return it
}

// partOf says which section a task is in.
func partOf(section string) string {
	if section == "" {
		return ""
	}
	return "Part of: " + groupName(section)
}

// aside takes a section beside the work as prose. It names its open boxes, and offers the commands that it calls for.
func aside(d *draft, name string, body []line) {
	for _, l := range body {
		if l.box != 0 && !l.done() {
			d.tell(l.n, "this box is below "+epic.Quoted(clip(name, 60))+", so it is not a task")
		}
		for _, run := range blueprint.CommandsIn(l.text) {
			d.offered = append(d.offered, Offered{File: d.at(d.file), Line: l.n, Run: run})
		}
	}
	d.prose(name, body)
}

// work returns the lines of a section without the sections below it that are beside the work, which it takes as prose.
func work(d *draft, list []line) (kept []line) {
	for _, part := range headed(list) {
		switch {
		case blueprint.IsAside(unformatted(part.heading.rest)):
			aside(d, unformatted(part.heading.rest), part.body)
			continue
		case part.heading.n > 0:
			kept = append(kept, part.heading)
		}
		kept = append(kept, part.body...)
	}
	return kept
}

// below takes a box below that of a task, as a criterion.
func (it *item) below(e *entry) {
	text := e.title
	if more := join(e.below); more != "" {
		text += "\n" + more
	}
	it.criteria = append(it.criteria, text)
}
