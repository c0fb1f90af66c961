package importer

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint"
	"relay/epic/each"
	"relay/epic/importer/internal/markdown"
	"relay/epic/pattern"
)

func claimsBoxes(s source) bool {
	name := strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	todo := boxesOpen.MatchString(name) || strings.EqualFold(name, "next steps")
	marked := slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Box != 0 || l.Kind == markdown.Item && todo })
	return marked && s.unclaimed() || s.isText() && !s.isOwn() && markdown.BoxedPhases(s.list) > 1
}

// says reports whether a line of a text has a form.
func (s source) says(form *pattern.Regexp) bool {
	return slices.ContainsFunc(s.list, func(l markdown.Line) bool { return form.MatchString(l.Text) })
}

// unclaimed reports whether a file is a text in which no blueprint has a task.
func (s source) unclaimed() bool { return s.isText() && !s.skim().Tasks }

// isOwn reports whether a text has fields or headings as only relay's own plans have them.
func (s source) isOwn() bool {
	own := func(l markdown.Line) bool { return l.Kind == markdown.Heading && blueprint.IsOwn(l.Rest) }
	return s.says(ofRelay) || slices.ContainsFunc(s.list, own)
}

func (s source) isText() bool {
	return slices.Contains([]string{".md", ".markdown", ".txt", ""}, strings.ToLower(path.Ext(s.name)))
}

// readBoxes reads any markdown with a checklist, as the text of an issue has it: an open box is a task, the boxes below it are its
// criteria. Boxes with numbers are done in their order, and so are phases; others have none.
func readBoxes(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(s.title), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	boxesOf(d, s.body, false)
}

var boxesOpen = pattern.New(`(?i)^[^\pL\d]*(?:(?:pending|to-?\s?do|(?:active )?backlog|next(?: up)?|in progress|open|remaining|planned|follow-?ups?|not (?:yet )?(?:done|started)|outstanding)\b\W*)+(?:tasks?|items?|work)?[^\pL\d]*$`)

// boxReader goes through the sections of a checklist.
type boxReader struct {
	d        *draft
	numbered bool // a number is the id of its task, also below another one
	points   bool // points of lists are boxes
	order    markdown.Stages
}

// boxesOf takes the tasks of a text. Sections beside the work, and the text around boxes, become part of the description of the epic.
func boxesOf(d *draft, list []markdown.Line, numbered bool) {
	boxed := slices.ContainsFunc(list, func(l markdown.Line) bool {
		return l.Box != 0 || l.Kind == markdown.Heading && boxesOpen.MatchString(l.Rest)
	})
	open := each.Where(list, func(l markdown.Line) (int, bool) { return l.N, l.Box != 0 && !l.Done() })
	r := boxReader{d: d, numbered: numbered, points: !boxed}
	var above [7]string // the headings that a section is below
	done := 0           // the level of the section whose work is done
	var beside [7][]int // open boxes that are no tasks, by the level of their section
	for _, part := range markdown.Cut(markdown.Labelled(list), 0) {
		name, level := markdown.Unformatted(part.Heading.Rest), part.Heading.Level
		above[level] = name
		clear(above[level+1:])
		if level <= done || level == 0 {
			done = 0
		}
		if done == 0 && (blueprint.IsDone(name) || markdown.IsComplete(part.Body)) {
			done = level
		}
		if part.Beside {
			beside[level] = append(beside[level], aside(d, name, part.Body)...)
			continue
		}
		entries, rest := r.section(part, above, done)
		if line, why := part.Doubt(entries, rest, above[:], len(open)); line > 0 && done == 0 && !numbered {
			d.tell(line, why)
		}
	}
	if !numbered {
		doubtBeside(d, beside[markdown.LabelLevel], len(open))
	}
}

// doubtBeside tells that many of all open boxes are no tasks.
func doubtBeside(d *draft, beside []int, all int) {
	if n := len(beside); n > 1 && 4*n >= all {
		d.tell(beside[0], fmt.Sprintf("%d boxes from here on are not tasks, for the names of their sections", n))
	}
}

// section takes the tasks of a section, which is below others, and returns what it has read. The one at the level done is done; 0 for none.
func (r *boxReader) section(part markdown.Section, above [7]string, done int) (entries []markdown.Entry, rest []markdown.Line) {
	d, name := r.d, markdown.Unformatted(part.Heading.Rest)
	phase, label := markdown.PhaseOf(above[:], name)
	entries, rest = markdown.Checklist(part.Body)
	if len(entries) == 0 && (r.points || boxesOpen.MatchString(name)) {
		entries, rest = markdown.Checklist(markdown.Boxed(part.Body))
	}
	first, priority := len(d.items), normal
	for _, heading := range above {
		priority = markdown.PriorityIn(heading, priority)
	}
	var numbered []*item
	owner, column := (*item)(nil), math.MaxInt
	for i := range entries {
		e := &entries[i]
		own := e.Line.Indent <= column
		if !own && r.isPart(owner, e) {
			d.items[len(d.items)-1].below(e)
			continue
		}
		it := boxItem(d, e, label)
		it.priority, it.group = priority, label
		if r.numbered {
			it.id, it.as = cmp.Or(e.Number, fmt.Sprintf("%d.%d", len(d.groups)+1, i+1)), ""
		}
		if done > 0 && it.open() {
			it.done = true
			d.tell(it.line, "this box is open, and "+markdown.Clip(cmp.Or(above[done], "its section"), 60)+" is done: it is left out")
		}
		if e.Number != "" || e.Line.Numbered || markdown.Dotted(e.Title) {
			numbered = append(numbered, it)
		}
		if own {
			owner, column = it, e.Line.Indent
		}
	}
	d.chain(numbered)
	r.end(name, label, phase, d.items[first:], rest)
	return entries, rest
}

// isPart reports whether a box below that of a task is a criterion: not if it is open below a ticked one, or has a number of its own.
func (r *boxReader) isPart(on *item, e *markdown.Entry) bool {
	return (!on.done || e.Line.Done()) && (!r.numbered || e.Number == "")
}

// end adds the text around the tasks of a section, and their group.
func (r *boxReader) end(name, label, phase string, items []*item, rest []markdown.Line) {
	if r.numbered && len(items) > 0 {
		r.d.share(items, "", markdown.Join(rest))
	} else {
		r.d.prose(name, rest)
	}
	if len(items) == 0 {
		return
	}
	after := r.order.Next(label, phase)
	if _, known := r.d.groups[label]; !known && label != "" {
		r.d.groups[label] = group{after: after}
	}
}

// boxItem adds the task of a box.
func boxItem(d *draft, e *markdown.Entry, section string) *item {
	title, ended := blueprint.Ended(e.Title)
	plain := markdown.Unformatted(title)
	it := &item{
		id: markdown.Clip(plain, 60), as: fmt.Sprintf("T%d", len(d.items)+1), line: e.Line.N, priority: normal, title: plain,
		done: e.Line.Done() || ended,
	}
	if it.left = !it.done && blueprint.IsDeferred(plain); it.left {
		d.tell(it.line, markdown.Clip(plain, 60)+" names no work for now, and is left out")
	}
	it.say(marked(title), markdown.Join(e.Below))
	if section != "" {
		it.say("Part of: " + markdown.GroupName(section))
	}
	d.items = append(d.items, it)
	return it
}

// aside takes a section beside the work as prose. It names its open boxes, returns their lines, and offers the commands that it calls for.
func aside(d *draft, name string, body []markdown.Line) (open []int) {
	for _, l := range body {
		if l.Box != 0 && !l.Done() {
			why := "this box is below " + epic.Quoted(markdown.Clip(name, 60)) + ", so it is not a task"
			d.made.Told = append(d.made.Told, Told{File: d.at(d.file), Line: l.N, Why: why, Beside: true})
			open = append(open, l.N)
		}
		d.made.Offered.AddFrom(d.at(d.file), l.N, l.Text)
	}
	d.prose(name, body)
	return open
}

// below takes a box below that of a task, as a criterion.
func (it *item) below(e *markdown.Entry) {
	it.criteria, it.boxes = append(it.criteria, strings.TrimSpace(e.Title+"\n"+markdown.Join(e.Below))), append(it.boxes, e.Line.N)
}
