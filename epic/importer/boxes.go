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
	"relay/epic/pattern"
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
// criteria. Boxes with numbers are done in their order, and so are phases; others have none.
func readBoxes(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(s.title), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	var above [7]string // the headings that a section is below
	done := 0           // the level of the section whose work is done
	for _, part := range markdown.Headed(s.body) {
		name, level := markdown.Unformatted(part.Heading.Rest), part.Heading.Level
		above[level] = name
		clear(above[level+1:])
		if level <= done || level == 0 {
			done = 0
		}
		if done == 0 && (boxesDone.MatchString(name) || isComplete(part.Body)) {
			done = level
		}
		if blueprint.IsAside(name) {
			aside(d, name, part.Body)
			continue
		}
		boxesOf(d, part, above, done > 0)
	}
	if open := lastOpen(d.items); open == nil && len(d.told) > 0 && len(d.items) == 0 {
		whole := boxItem(d, &markdown.Entry{Title: d.title, Line: s.body[0]}, "")
		for _, l := range s.body {
			if l.Box != 0 {
				whole.criteria = append(whole.criteria, l.Rest)
			}
		}
		d.told = nil
	}
}

var (
	boxesDone     = pattern.New(`(?i)^\W*(?:completed?|done|finished|shipped|archived?)\b[^a-z]*(?:tasks?|items?|work)?\W*$`)
	boxesOpen     = pattern.New(`(?i)^\W*(?:pending|to-?\s?do|backlog|next(?: up| steps)?|in progress|open|remaining|planned)\b[^a-z]*(?:tasks?|items?|work)?\W*$`)
	boxesPhase    = pattern.New(`(?i)^(?:phase|milestone|stage|sprint)\s+\d+`)
	boxesPriority = pattern.New(`(?i)\bp(?:riority\s*)?:?\s*([0-4])\b|\b(critical|urgent|high|medium|low)\b[ -]*(?:priority\b|\W*$)|\bpriority:?\s*(critical|high|medium|low)\b`)
	statusLine    = pattern.New(`(?i)^[-*\s]*\**status\**\s*:\**\W*(?:completed?|done|shipped|implemented|closed|fixed|resolved)\b`)
)

// isComplete reports whether a section says that its work is done: **Status:** ✅ Complete.
func isComplete(list []markdown.Line) bool {
	return slices.ContainsFunc(list, func(l markdown.Line) bool { return l.Kind != markdown.Code && statusLine.MatchString(l.Text) })
}

// boxesOf takes the tasks of a section, which is below others. The text around them becomes part of the description of the epic.
func boxesOf(d *draft, part markdown.Section, above [7]string, done bool) {
	entries, rest := markdown.Checklist(part.Body)
	name := markdown.Unformatted(part.Heading.Rest)
	if len(entries) == 0 && boxesOpen.MatchString(name) {
		for i := range part.Body { // points are boxes there
			if l := &part.Body[i]; l.Kind == markdown.Item && l.Indent == 0 {
				l.Box = ' '
			}
		}
		entries, rest = markdown.Checklist(part.Body)
	}
	d.prose(name, rest)
	priority, phase := normal, ""
	for _, heading := range above {
		if m := boxesPriority.FindStringSubmatch(heading); m != nil {
			priority = urgencyOf(cmp.Or(m[2], m[3], "p"+m[1]))
		}
		if boxesPhase.MatchString(heading) {
			phase = groupName(heading)
		}
	}
	var owner *item
	var before *item // with a number
	column := 0
	for i := range entries {
		e := &entries[i]
		if owner != nil && e.Line.Indent > column && (!owner.done || e.Line.Done()) {
			owner.below(e)
			continue
		}
		it := boxItem(d, e, name)
		it.priority, it.group = priority, phase
		if done && it.open() {
			it.done = true
			d.tell(it.line, "this box is open, and "+markdown.Clip(cmp.Or(name, "its section"), 60)+" is done: it is left out")
		}
		if e.Number != "" {
			if before != nil {
				it.follow(before)
			}
			if it.open() {
				before = it
			}
		}
		if owner == nil || e.Line.Indent <= column {
			owner, column = it, e.Line.Indent
		}
	}
	if k := len(d.groups); phase != "" && !slices.ContainsFunc(d.groups, func(g group) bool { return g.name == phase }) {
		d.groups = append(d.groups, group{name: phase})
		if k > 0 {
			d.groups[k].after = []string{d.groups[k-1].name}
		}
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
	it.criteria, it.boxes = append(it.criteria, text), append(it.boxes, e.Line.N)
}
