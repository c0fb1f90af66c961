package importer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/importer/internal/markdown"
)

func claimsBoxes(s source) bool {
	return s.unclaimed() && slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Box != 0 })
}

// unclaimed reports whether a file is a text in which no blueprint has a task.
func (s source) unclaimed() bool {
	text := slices.Contains([]string{".md", ".markdown", ".txt", ""}, strings.ToLower(path.Ext(s.name)))
	return text && !blueprint.HasTasks(s.data)
}

// readBoxes reads any markdown with a checklist, as the text of an issue has it: an open box is a task, the boxes below it are its
// criteria. Boxes with numbers are done in their order; others have none.
func readBoxes(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(s.title), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	for _, part := range markdown.Headed(s.body) {
		boxesOf(d, part)
	}
}

// boxesOf takes the tasks of a section. The text around them becomes part of the description of the epic.
func boxesOf(d *draft, part markdown.Section) {
	entries, rest := markdown.Checklist(part.Body)
	name := markdown.Unformatted(part.Heading.Rest)
	d.prose(name, rest)
	var owner *item
	var before *item // with a number
	column := 0
	for i := range entries {
		e := &entries[i]
		if owner != nil && e.Line.Indent > column {
			owner.below(e)
			continue
		}
		it := boxItem(d, e, name)
		if e.Number != "" {
			if before != nil {
				it.follow(before)
			}
			if it.open() {
				before = it
			}
		}
		owner, column = it, e.Line.Indent
	}
}

// boxItem adds the task of a box.
func boxItem(d *draft, e *markdown.Entry, section string) *item {
	it := &item{
		id: markdown.Clip(markdown.Unformatted(e.Title), 60), as: fmt.Sprintf("T%d", len(d.items)+1), line: e.Line.N, priority: normal,
		title: markdown.Unformatted(e.Title), done: e.Line.Done(),
	}
	it.say(marked(e.Title), markdown.Join(e.Below))
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
func aside(d *draft, name string, body []markdown.Line) {
	for _, l := range body {
		if l.Box != 0 && !l.Done() {
			d.tell(l.N, "this box is below "+epic.Quoted(markdown.Clip(name, 60))+", so it is not a task")
		}
		for _, run := range blueprint.CommandsIn(l.Text) {
			d.offered = append(d.offered, Offered{File: d.at(d.file), Line: l.N, Run: run})
		}
	}
	d.prose(name, body)
}

// work returns the lines of a section without the sections below it that are beside the work, which it takes as prose.
func work(d *draft, list []markdown.Line) (kept []markdown.Line) {
	for _, part := range markdown.Headed(list) {
		switch {
		case blueprint.IsAside(markdown.Unformatted(part.Heading.Rest)):
			aside(d, markdown.Unformatted(part.Heading.Rest), part.Body)
			continue
		case part.Heading.N > 0:
			kept = append(kept, part.Heading)
		}
		kept = append(kept, part.Body...)
	}
	return kept
}

// below takes a box below that of a task, as a criterion.
func (it *item) below(e *markdown.Entry) {
	text := e.Title
	if more := markdown.Join(e.Below); more != "" {
		text += "\n" + more
	}
	it.criteria = append(it.criteria, text)
}
