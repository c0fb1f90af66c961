package blueprint

import (
	"fmt"
	"strings"

	"relay/epic"
)

// unreadable stands in for a value that has been reported, so that validation does not report it again as missing.
const unreadable = "?"

// draft is a task while its blocks are read.
type draft struct {
	task  epic.Task
	level int // of its heading; 7 for an entry of a checklist
	whole epic.Place
	end   int // the last line of its own text
	at    map[epic.Field][]epic.Place
	given map[string]bool
	desc  []string
	open  string // the field that a following list or code block belongs to
}

func newDraft(id, title string, level int, at epic.Place) *draft {
	return &draft{
		task:  epic.Task{ID: id, Title: title, Kind: KindOf(title), Priority: 2, Line: at.Line},
		level: level, whole: at, at: map[epic.Field][]epic.Place{}, given: map[string]bool{},
	}
}

func (l line) place() epic.Place { return epic.Place{Line: l.line, Column: l.column} }

func (d *draft) describe(text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) != "" {
		d.desc = append(d.desc, text)
	}
}

// block reads one block of a task's text.
func (d *draft) block(p *parser, b *block) {
	d.end = max(d.end, b.line+strings.Count(b.raw, "\n"))
	switch b.kind {
	case heading:
		d.heading(b)
		return
	case paragraph:
		d.paragraph(p, b)
		return
	case list:
		d.list(p, b)
	case code:
		d.code(p, b)
	default:
		d.describe(b.raw)
	}
	d.open = ""
}

// heading reads a heading below the task's own: the name of a field that is a list, or a part of the description.
func (d *draft) heading(b *block) {
	d.open = ""
	if name, _ := fieldName(strings.TrimRight(plain(b.text), ": ")); isList(name) {
		d.open = name
		return
	}
	d.describe(b.raw)
}

// paragraph reads fields from the lines that begin with one, and leaves the others to the description. A paragraph right
// after the name of a field is its value.
func (d *draft) paragraph(p *parser, b *block) {
	d.lines(p, b.split(), nil)
}

// lines reads lines that may begin with fields; found are those of a line before them. A line without a field goes on
// with the value of the one before if that is empty or ends in a comma, and is description otherwise.
func (d *draft) lines(p *parser, lines []line, found []pair) {
	var text []line
	flush := func() {
		d.pairs(p, found)
		if len(text) > 0 {
			d.text(text)
			d.open = ""
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
func (d *draft) text(lines []line) {
	words := make([]string, len(lines))
	for k, l := range lines {
		words[k] = l.text
	}
	if d.open == "" {
		d.describe(strings.Join(words, "\n"))
		return
	}
	d.value(d.open, line{strings.Join(words, " "), lines[0].line, lines[0].column}, strings.Join(words, "\n"))
}

// pairs stores the fields of one line.
func (d *draft) pairs(p *parser, found []pair) {
	for _, f := range found {
		f.join()
		if f.known {
			d.set(p, f)
			continue
		}
		near, ok := epic.Nearest(f.key, fieldNames)
		if !ok { // a lead-in, as **Why:**
			d.describe(f.raw)
			continue
		}
		p.add(f.at, fmt.Sprintf("did you mean **%s:**?", near), "unknown field %s in task %s", epic.Quoted(f.key), d.task.ID)
	}
}

// list reads a list: its entries are fields, acceptance criteria, values of the field named before, or description.
func (d *draft) list(p *parser, b *block) {
	var text []string
	for k := range b.items {
		i := &b.items[k]
		if d.entry(p, i) {
			continue
		}
		text = append(text, strings.TrimLeft(i.raw, "\n"))
	}
	d.describe(strings.Join(text, "\n"))
}

// entry reads one entry of a list. It reports false when the entry is description.
func (d *draft) entry(p *parser, i *item) bool {
	if len(i.lines) == 0 {
		return false
	}
	first := i.lines[0]
	rest, _, boxed := checkbox(first.text)
	found := pairs(first)
	switch {
	case boxed:
		lines := append([]line{{rest, first.line, first.column}}, i.lines[1:]...)
		d.values(p, "criteria", lines, i.children)
	case len(found) > 0 && (found[0].known || d.open != "criteria" && found[0].strict):
		d.lines(p, i.lines[1:], found)
		d.children(p, i.children, found[len(found)-1])
	case d.open != "":
		d.values(p, d.open, i.lines, i.children)
	default:
		return false
	}
	return true
}

// children reads what is nested below a field: more values, when the field is a list.
func (d *draft) children(p *parser, children []block, last pair) {
	open := d.open
	name, _ := fieldName(last.key)
	for k := range children {
		if isList(name) {
			d.open = name
		}
		d.block(p, &children[k])
	}
	d.open = open
}

// values stores the lines of an entry as one value of a field. Blocks below a criterion belong to it.
func (d *draft) values(p *parser, name string, lines []line, children []block) {
	own, was := lines[0], d.open
	words := []string{own.text}
	k := 1
	for ; k < len(lines); k++ {
		if more := pairs(lines[k]); len(more) > 0 && more[0].known {
			break // markdown takes a line right below a list for a part of its last entry
		}
		words = append(words, lines[k].text)
	}
	words = []string{strings.Join(words, " ")}
	if name == "criteria" {
		for _, c := range children {
			words = append(words, c.raw)
		}
		children = nil
	}
	if own.text = strings.TrimSpace(strings.Join(words, "\n")); own.text != "" {
		d.value(name, own, own.text)
	}
	for c := range children {
		d.open = name
		d.block(p, &children[c])
	}
	d.open = was
	if k < len(lines) {
		d.open = ""
		d.lines(p, lines[k:], nil)
	}
}

// code reads a code block: the command of a check when checks were named before, else description.
func (d *draft) code(p *parser, b *block) {
	if d.open != "checks" {
		d.describe(b.raw)
		return
	}
	run := strings.TrimSpace(b.text)
	if strings.Contains(run, "\n") {
		p.add(epic.Place{Line: b.line, Column: 1}, "write one command in backticks for each check", "the checks of %s are a block of several lines", d.owner())
		return
	}
	d.check(run, epic.Place{Line: b.line, Column: 1})
}

// owner says whose fields these are.
func (d *draft) owner() string {
	if d.task.ID == "" {
		return "the epic"
	}
	return "task " + d.task.ID
}

// finish returns the task.
func (d *draft) finish() epic.Task {
	d.task.Description = strings.Join(d.desc, "\n\n")
	if d.task.Kind == epic.KindPerson && !d.given["kind"] && len(d.task.Checks) > 0 {
		d.task.Kind = epic.KindFeature // what commands prove needs no person
	}
	return d.task
}
