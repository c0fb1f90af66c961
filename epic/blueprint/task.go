package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/each"
	"relay/epic/plaintext"
)

// listed is the level of a task without a heading.
const listed = 7

// unreadable stands in for a value that has been reported, so that validation does not report it again as missing.
const unreadable = "?"

// taskReader reads the blocks of a task, or of the epic's own fields, into a draft.
type taskReader struct {
	parser *parser // gets the problems
	draft  *draft
	level  int    // of the task's heading; listed for an entry of a checklist
	open   string // the field that a following list or code block belongs to
}

// block reads one block of a task's text.
func (r *taskReader) block(b *block) {
	r.draft.end = max(r.draft.end, b.line+strings.Count(b.raw, "\n"))
	switch b.kind {
	case heading: // the name of a field that is a list, or a part of the description
		r.open = ""
		if name, _ := fieldName(strings.TrimRight(inline.Plain(b.text), ": ")); isList(name) {
			r.open = name
		} else {
			r.draft.describe(b.raw)
		}
		return
	case paragraph: // right after the name of a field it is its value
		r.lines(b.split(), nil)
		return
	case list:
		r.list(b)
	case code:
		r.code(b)
	default:
		r.draft.describe(b.raw)
	}
	r.open = ""
}

// lines reads lines that may begin with fields; found are those of a line before them. A line without a field goes on
// with the value of the one before if that is empty or ends in a comma, and is description otherwise.
func (r *taskReader) lines(lines []line, found []pair) {
	var text []line
	flush := func() {
		r.pairs(found)
		if len(text) > 0 {
			r.text(text)
			r.open = ""
		}
		found, text = nil, nil
	}
	for _, l := range lines {
		if more := pairs(l); len(more) > 0 && more[0].known {
			flush()
			found = more
			continue
		}
		if len(found) > 0 && len(text) == 0 && found[len(found)-1].goesOn() {
			found[len(found)-1].extend(l)
			continue
		}
		text = append(text, l)
	}
	flush()
}

// text stores lines without a field.
func (r *taskReader) text(lines []line) {
	words := make([]string, len(lines))
	for k, l := range lines {
		words[k] = l.text
		r.draft.ended = r.draft.ended || SaysDone(l.text)
	}
	if r.open == "" {
		r.draft.describe(strings.Join(words, "\n"))
		return
	}
	r.draft.value(r.open, line{strings.Join(words, " "), lines[0].line, lines[0].column}, strings.Join(words, "\n"))
}

// pairs stores the fields of one line.
func (r *taskReader) pairs(found []pair) {
	for _, f := range found {
		if len(f.more) > 0 { // lines of one value
			f.value.text = strings.TrimSpace(f.value.text + " " + strings.Join(f.more, " "))
			f.raw += "\n" + strings.Join(f.more, "\n")
		}
		if f.known {
			r.set(f)
			continue
		}
		r.draft.ended = r.draft.ended || SaysDone(f.raw)
		near, ok := epic.Nearest(f.key, fieldNames)
		if !ok { // a lead-in, as **Why:**
			r.draft.describe(f.raw)
			continue
		}
		r.parser.add(f.at, fmt.Sprintf("did you mean **%s:**?", near), "unknown field %s in task %s", epic.Quoted(f.key), r.draft.task.ID)
	}
}

// list reads a list: its entries are fields, acceptance criteria, values of the field named before, or description.
func (r *taskReader) list(b *block) {
	var text []string
	for k := range b.items {
		i := &b.items[k]
		if !r.entry(i) {
			text = append(text, strings.TrimLeft(i.raw, "\n"))
		}
		if len(i.behind) > 0 {
			r.open = ""
			r.lines(i.behind, nil)
		}
	}
	r.draft.describe(strings.Join(text, "\n"))
}

// entry reads one entry of a list. It reports false when the entry is description.
func (r *taskReader) entry(i *item) bool {
	if len(i.lines) == 0 {
		return false
	}
	first := i.lines[0]
	rest, ticked, boxed := inline.Checkbox(first.text)
	found := pairs(first)
	switch {
	case boxed:
		r.draft.boxes++
		if ticked {
			r.draft.ticked++
		}
		lines := append([]line{{rest, first.line, first.column}}, i.lines[1:]...)
		r.values("criteria", lines, i.children)
	case len(found) > 0 && (found[0].known || r.open != "criteria" && found[0].strict):
		r.lines(i.lines[1:], found)
		r.children(i.children, found[len(found)-1])
	case r.open != "":
		r.values(r.open, i.lines, i.children)
	default:
		return false
	}
	return true
}

// children reads what is nested below a field: more values, when the field is a list.
func (r *taskReader) children(children []block, last pair) {
	open := r.open
	name, _ := fieldName(last.key)
	for k := range children {
		if isList(name) {
			r.open = name
		}
		r.block(&children[k])
	}
	r.open = open
}

// values stores the lines of an entry as one value of a field. Blocks below a criterion belong to it.
func (r *taskReader) values(name string, lines []line, children []block) {
	own, was := lines[0], r.open
	words := []string{strings.Join(each.Of(lines, func(l line) string { return l.text }), " ")}
	if name == "criteria" {
		words = append(words, each.Of(children, func(c block) string { return c.raw })...)
		children = nil
	}
	if own.text = strings.TrimSpace(strings.Join(words, "\n")); own.text != "" {
		r.draft.value(name, own, own.text)
	}
	for c := range children {
		r.open = name
		r.block(&children[c])
	}
	r.open = was
}

// code reads a code block: the command of a check when checks were named before, else description.
func (r *taskReader) code(b *block) {
	if r.open != "checks" {
		r.draft.describe(b.raw)
		return
	}
	run := strings.TrimSpace(b.text)
	if strings.Contains(run, "\n") {
		of := "the epic"
		if id := r.draft.task.ID; id != "" {
			of = "task " + id
		}
		r.parser.add(epic.Place{Line: b.line, Column: 1}, "write one command in backticks for each check", "the checks of %s are a block of several lines", of)
		return
	}
	r.draft.check(run, epic.Place{Line: b.line, Column: 1})
}

// set stores one field of a task. A value that it cannot read is a problem; text beside the value stays as description.
func (r *taskReader) set(f pair) {
	name, _ := fieldName(f.key)
	r.open = ""
	switch {
	case isList(name):
		if f.value.text == "" {
			r.open = name // the values follow
		}
		r.draft.given[name] = true
		r.draft.value(name, f.value, f.raw)
		return
	case name == "description":
		r.draft.describe(f.value.text)
		return
	}
	if r.draft.given[name] {
		r.parser.add(f.at, "take one of the two out", "%s of task %s is given twice", f.key, r.draft.task.ID)
		return
	}
	r.draft.given[name] = true
	if plaintext.Nothing(f.value.text) && name != "allow no change" {
		return
	}
	another := name == "kind" && !strings.EqualFold(f.key, name) && !slices.Contains(epic.Kinds, strings.ToLower(inline.Plain(f.value.text)))
	hint, ok := "", false
	if !another {
		hint, ok = r.draft.scalar(name, f.value)
	}
	switch {
	case ok:
	case strings.EqualFold(f.key, name):
		r.parser.add(f.value.place(), hint, "%s cannot be %s", strings.ToLower(f.key), epic.Quoted(inline.Plain(f.value.text)))
	default: // an estimate of another plan
		r.draft.describe(f.raw)
	}
}
