package importer

import (
	"bytes"
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"relay/epic/blueprint"
	"relay/epic/importer/internal/markdown"
	"relay/epic/importer/internal/placed"
	"relay/epic/pattern"
)

var (
	superpowers = pattern.New(`(?i)\bsuperpowers:|\bexecuting-plans\b`)
	stepBox     = pattern.New(`^\**Step \d+\b`)
	ofRelay     = pattern.New(`(?i)^[-*\s]*\*\*(?:(?:checks?|points|protected|kind|timeout|budget|max attempts|runner)\b[^:]{0,3}:|priority:?\*\*:?\s*p[0-3]\b)`)
	stepInCode  = pattern.New(`(?i)^#{2,4} (?:task|story) \d+`)
	filesLabel  = pattern.New(`(?i)^\W*files?\b[^:]{0,30}:\**\s*(.*)$`)
)

func claimsPlanmode(s source) bool {
	if len(todosOf(s)) > 0 {
		return true
	}
	fields, marked := s.says(ofRelay), s.says(superpowers)
	section := slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Kind == markdown.Heading && blueprint.IsSection(l.Rest) })
	if !s.isText() || len(markdown.Steps(s.list)) < 2 {
		return false
	}
	if section && !fields && !marked { // a blueprint, unless its prose is none
		_, err := blueprint.Parse(s.name, s.data, time.Time{})
		return err != nil
	}
	return marked || !fields || s.unclaimed()
}

// todosOf returns the to-dos in the front matter of a plan of Cursor.
func todosOf(s source) []*placed.Node {
	head, _, _ := bytes.Cut(s.data, []byte("\n---"))
	if !s.isText() || !bytes.Contains(head, []byte("\ntodos:")) {
		return nil
	}
	matter, err := placed.YAML(head) // which the first --- may begin
	if err != nil {
		return nil
	}
	return matter.Get("todos").List()
}

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps that are numbered headings, or the numbered list
// or the headings of a section that is called a plan or steps. They are done in their order; everything else is the description of the
// epic. Boxes below one are its criteria or its parts; when all are ticked it is done.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	if list := todosOf(s); len(list) > 0 {
		for _, n := range list {
			if it := d.object(n, "a to-do"); it != nil {
				it.state = becomes(n.Get("status"), "completed")
				d.state(it, n.Get("status").String())
				d.items = append(d.items, it)
			}
		}
		d.prose("", s.body)
		d.chain(d.items)
		return
	}
	starts := markdown.Steps(s.body)
	if len(starts) == 0 {
		d.fail(1, "no step was found in it: numbered headings, or a numbered list below one such as Steps")
		return
	}
	for _, l := range s.body {
		if l.Kind == markdown.Code && stepInCode.MatchString(l.Text) {
			d.tell(l.N, "this heading is in a block of code, so it is not a task")
		}
	}
	parts, rest := markdown.SplitSteps(s.body, starts)
	known, holds := map[string]bool{}, map[int]bool{}
	for _, part := range parts {
		holds[part.Phase.N] = true
		number, _ := markdown.StepTitle(part.Heading)
		known[number] = true
	}
	for _, part := range parts {
		takeStep(d, part, known)
	}
	byID := map[string]*item{}
	for _, it := range d.items {
		byID[it.id] = it
	}
	for _, row := range markdown.Rows(s.body) {
		if it := byID[row.Number]; it != nil {
			it.done = it.done || row.Done
		} else if !row.Done {
			d.tell(row.Line, "this row of a table is not a task")
		}
	}
	for _, part := range markdown.Cut(rest, 0) {
		if number, title := markdown.StepTitle(part.Heading); number != "" && !blueprint.IsAside(title) && !holds[part.Heading.N] {
			d.tell(part.Heading.N, "this heading has a number, and is not a task")
		}
		aside(d, markdown.Unformatted(part.Heading.Rest), part.Body)
	}
	if number, _ := markdown.StepTitle(parts[0].Heading); number != "" || !markdown.HasStatus(parts[0].Body) { // else a backlog
		d.chain(d.items)
	}
}

// takeStep adds the task of a step, which may be a part of a phase.
func takeStep(d *draft, step markdown.Step, known map[string]bool) {
	head, below, phase := step.Heading, step.Body, step.Phase
	number, title := markdown.StepTitle(head)
	if whole, _ := markdown.StepTitle(phase); head.Kind == markdown.Item && whole != "" && number != "" {
		number = whole + "." + number
	}
	it := boxItem(d, &markdown.Entry{Title: title, Line: head}, markdown.Unformatted(phase.Rest))
	it.id, it.as = cmp.Or(number, it.id), "T"+cmp.Or(number, it.as[1:])
	if head.Kind == markdown.Plain {
		it.say(head.Text) // the row of a table
	}
	open, files := false, false
	for _, l := range below {
		text := cmp.Or(l.Rest, l.Text)
		waitsFor(it, markdown.After(l, known))
		switch m := filesLabel.FindStringSubmatch(text); {
		case m != nil:
			files, it.files = true, blueprint.FilesIn(it.files, m[1], true)
		case files && l.Kind == markdown.Item && l.Box == 0:
			it.files = blueprint.FilesIn(it.files, l.Rest, true)
		case l.Kind == markdown.Heading, l.Kind == markdown.Plain && l.Indent == 0:
			files = false
		}
		if l.Box != 0 {
			it.boxes = append(it.boxes, l.N)
			open = open || !l.Done()
		}
	}
	said := proof(it, below)
	it.done = it.done || step.Done || len(it.boxes) > 0 && !open || markdown.IsComplete(below)
	it.say(markdown.Join(said))
}

// proof takes the boxes below a step as its criteria, with the lists below them. It returns the other lines.
func proof(it *item, below []markdown.Line) (said []markdown.Line) {
	column := -1 // of the last criterion
	for _, l := range below {
		switch last := len(it.criteria) - 1; {
		case l.Box != 0 && !stepBox.MatchString(l.Rest):
			it.criteria, column = append(it.criteria, l.Rest), l.Indent
		case column >= 0 && l.Kind == markdown.Item && l.Indent > column:
			it.criteria[last] += "\n" + strings.TrimSpace(l.Text)
		default:
			said, column = append(said, l), -1
		}
	}
	return said
}
