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

var ofRelay = pattern.New(`(?i)^[-*\s]*\*\*(?:(?:checks?|points|protected|kind|timeout|budget|max attempts|runner)\b[^:]{0,3}:|priority:?\*\*:?\s*p[0-3]\b)`)

// checked matches fields that only relay has.
var checked = pattern.New(`(?i)^[-*\s]*\*\*(?:checks|protected|max attempts):?\*\*`)

func claimsPlanmode(s source) bool {
	if !s.isText() {
		return false
	}
	steps, skim := markdown.Steps(s.list), s.skim()
	switch {
	case len(todosOf(s)) > 0:
		return true
	case len(steps) < 2:
		return false
	case s.says(ofRelay):
		_, err := blueprint.Parse(s.name, s.data, time.Time{})
		return !skim.Tasks || err != nil && !s.says(checked)
	case !skim.Tasks, !isBlueprint(s, steps):
		return true
	}
	_, err := blueprint.Parse(s.name, s.data, time.Time{})
	sectioned := slices.ContainsFunc(s.list, func(l markdown.Line) bool { return l.Kind == markdown.Heading && blueprint.IsSection(l.Rest) })
	if sectioned && skim.Named { // whose mistakes are worth naming
		return false
	}
	return err != nil || !skim.Named && !sectioned && slices.ContainsFunc(steps, func(i int) bool {
		id, _ := markdown.StepTitle(s.list[i])
		return id != "" && id[0] <= '9'
	})
}

// isBlueprint reports whether a blueprint has most of the steps of a text as tasks, and few others.
func isBlueprint(s source, steps []int) bool {
	same, skim := 0, s.skim()
	for _, i := range steps {
		if _, found := slices.BinarySearch(skim.Lines, s.list[i].N); found {
			same++
		}
	}
	return 2*same >= len(skim.Lines) && 5*(same+skim.Done) >= 4*len(steps)
}

// todosOf returns the to-dos in the front matter of a plan of Cursor.
func todosOf(s source) []*placed.Node {
	head, _, _ := bytes.Cut(s.data, []byte("\n---")) // the first --- may begin YAML
	if !s.isText() || !bytes.Contains(head, []byte("\ntodos:")) {
		return nil
	}
	matter, _ := placed.YAML(head)
	return matter.Get("todos").List()
}

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps that are numbered headings, or the numbered list
// or the headings of a section that is called a plan or steps. They are done in their order; everything else is the description of the
// epic. Boxes below one are its criteria or its parts; when all are ticked it is done.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	if list := todosOf(s); len(list) > 0 {
		readTodos(d, list)
		d.prose("", s.body)
		return
	}
	starts := markdown.Steps(s.body)
	if len(starts) == 0 {
		d.fail(1, "no step was found in it: numbered headings, or a numbered list below one such as Steps")
		return
	}
	stepsOf(d, s, starts)
}

// stepsOf takes the steps that begin at some lines.
func stepsOf(d *draft, s source, starts []int) {
	steps, rest := markdown.SplitSteps(s.body, starts)
	byID, holds := map[string]*item{}, map[int]bool{}
	for i := range steps {
		it := takeStep(d, &steps[i])
		byID[it.id], holds[steps[i].Phase.N] = it, true
	}
	for _, row := range markdown.Rows(s.body) {
		if it := byID[row.Number]; it != nil {
			it.done = it.done || row.Done
		} else if !row.Done {
			d.tell(row.Line, "this row of a table is not a task")
		}
	}
	for _, part := range markdown.Cut(rest, 0) {
		if number, _ := markdown.StepTitle(part.Heading); number != "" && !part.Beside && !holds[part.Heading.N] {
			d.tell(part.Heading.N, "this heading has a number, and is not a task")
		}
		aside(d, markdown.Unformatted(part.Heading.Rest), part.Body)
	}
	d.chain(d.items)
}

// readTodos takes the to-dos of a plan of Cursor.
func readTodos(d *draft, list []*placed.Node) {
	r := recordReader{d: d}
	for _, n := range list {
		if it := r.item(n, nil, false); it != nil {
			it.state = n.Get("status").Becomes("completed")
			d.items = append(d.items, it)
		}
	}
	d.chain(d.items)
}

// takeStep adds the task of a step.
func takeStep(d *draft, s *markdown.Step) *item {
	it := boxItem(d, &markdown.Entry{Title: s.Title, Line: s.Line}, markdown.Unformatted(s.Phase.Rest))
	it.group = groupName(markdown.Unformatted(s.Phase.Rest))
	it.id, it.as = cmp.Or(s.Number, it.id), cmp.Or(s.Number, it.as)
	it.files, it.criteria, it.boxes, it.done = s.Files, s.Criteria, s.Boxes, it.done || s.Done
	waitsFor(it, s.After)
	it.say(s.Text)
	return it
}
