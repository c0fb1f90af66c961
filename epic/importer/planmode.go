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

// anyOrder matches what says that no task has to wait for the one before.
var anyOrder = pattern.New(`(?i)\b(?:tasks|steps|items|findings|issues|they|all) (?:are (?:all )?independent of|do not depend on) (?:each other|one another)\b`)

// checked matches fields that only relay has.
var checked = pattern.New(`(?i)^[-*\s]*\*\*(?:checks|protected|max attempts):?\*\*`)

func claimsPlanmode(s source) bool {
	if !s.isText() {
		return false
	}
	steps := markdown.Steps(s.body)
	switch {
	case len(todosOf(s)) > 0:
		return true
	case len(steps) < 2:
		return false
	case s.says(ofRelay):
		_, err := blueprint.Parse(s.name, s.data, time.Time{})
		return !s.skim().Tasks || err != nil && !s.says(checked)
	}
	return !s.skim().Tasks || !s.isOwn()
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

// readPlanmode reads what Claude Code writes in its plan mode, and plans like it: steps are numbered headings, or the list or headings of a
// section called a plan or steps. They are done in order. Boxes below one are its criteria or parts; when all are ticked it is done.
func readPlanmode(s source, d *draft) {
	d.title = cmp.Or(markdown.Unformatted(strings.TrimPrefix(s.title, "Plan:")), strings.TrimSuffix(path.Base(s.name), path.Ext(s.name)))
	if list := todosOf(s); len(list) > 0 {
		readTodos(d, list)
		d.prose("", s.body)
		return
	}
	if starts := markdown.Steps(s.body); len(starts) > 0 {
		stepsOf(d, s, starts)
	}
}

// stepsOf takes the steps that begin at some lines. They come in their order, unless the text beside them says that any will do.
func stepsOf(d *draft, s source, starts []int) {
	steps, rest := markdown.SplitSteps(s.body, starts)
	holds := map[int]bool{}
	for _, line := range markdown.Rows(s.body, steps) {
		d.tell(line, "this row of a table is not a task")
	}
	for i := range steps {
		takeStep(d, &steps[i])
		holds[steps[i].Phase.N] = true
	}
	for _, part := range markdown.Cut(rest, 0) {
		if markdown.StepTitle(part.Heading).Number != "" && !part.Beside && !holds[part.Heading.N] {
			d.tell(part.Heading.N, "this heading has a number, and is not a task")
		}
		aside(d, markdown.Unformatted(part.Heading.Rest), part.Body)
	}
	if !slices.ContainsFunc(rest, func(l markdown.Line) bool { return anyOrder.MatchString(l.Text) }) {
		d.chain(d.items)
	}
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
func takeStep(d *draft, s *markdown.Step) {
	it := boxItem(d, &markdown.Entry{Title: s.Title, Line: s.Line}, markdown.Unformatted(s.Phase.Rest))
	it.group = markdown.GroupName(markdown.Unformatted(s.Phase.Rest))
	it.id, it.as = s.Name(), cmp.Or(s.ID, it.as)
	it.files, it.criteria, it.boxes, it.done = s.Files, s.Criteria, s.Boxes, it.done || s.Done
	it.written = s.Line.Rest
	waitsFor(it, s.After)
	it.say(s.Text)
}
