package blueprint

import (
	"fmt"
	"slices"

	"relay/epic"
)

// wholeFields are the fields that an epic has as a task has them, as a hint shows them. Before the first task they are the
// epic's.
var wholeFields = []string{"Checks", "Protected"}

const asWords = "without the colon it is description"

// ofEpic reads a block before the first task that names checks of the whole epic, or what it protects, in backticks. It
// reports false for a block without any of these fields. One that has them and something else, or is nearly one, is a
// problem: taken for description it would leave the epic without what it was to be held to.
func (p *parser) ofEpic(b *block) bool {
	first := b.first()
	open := p.whole.open
	values := b.kind == code || b.kind == list && !slices.ContainsFunc(first, func(l line) bool { return !inCode(l) })
	if open != "" && values {
		p.whole.block(p, b)
		return true
	}
	p.whole.open = ""
	if slices.ContainsFunc(first, meansEpicField) {
		p.epicFields(b, first)
		return true
	}
	if open != "" && len(first) > 0 {
		p.notInCode(first[0].place(), open)
	}
	return false
}

// first are the lines of a block that can begin with a field.
func (b *block) first() []line {
	switch b.kind {
	case paragraph:
		return b.split()
	case list:
		var first []line
		for _, i := range b.items {
			if len(i.lines) > 0 {
				first = append(first, i.lines[0])
			}
		}
		return first
	default:
		return nil
	}
}

// meansEpicField tells a line with a field of the epic, or what is nearly one.
func meansEpicField(l line) bool {
	return slices.ContainsFunc(pairs(l), func(f pair) bool {
		if ofEpic(f) {
			return f.strict || inCode(f.value)
		}
		_, near := epic.Nearest(f.key, wholeFields)
		return near && f.strict && !f.known
	})
}

func ofEpic(f pair) bool {
	name, _ := fieldName(f.key)
	return name == "checks" || name == "protected"
}

// epicFields takes a block that is nothing but fields of the epic, and says what else it has.
func (p *parser) epicFields(b *block, first []line) {
	before := len(p.problems)
	var last *pair // that the next line may go on with
	for _, l := range first {
		found := pairs(l)
		switch {
		case len(found) == 0 && last != nil && b.kind == paragraph && last.goesOn():
			if !inCode(l) {
				p.notInCode(l.place(), last.key)
				return // as many lines may follow as a text has
			}
			last.extend(l)
			continue
		case len(found) == 0:
			p.add(l.place(), "put it in a paragraph of its own", "%s stands with fields of the epic, and is none", epic.Quoted(l.text))
			return
		}
		for _, f := range found {
			p.epicField(f)
		}
		last = &found[len(found)-1]
	}
	if len(p.problems) == before {
		p.whole.block(p, b)
	}
}

// epicField says what is wrong with one field.
func (p *parser) epicField(f pair) {
	near, ok := epic.Nearest(f.key, wholeFields)
	switch {
	case ofEpic(f) && !f.strict:
		p.add(f.at, fmt.Sprintf("write **%s:**; %s", f.key, asWords), "%s above the tasks has its colon behind the stars", epic.Quoted(f.key))
	case ofEpic(f) && !nothing(f.value.text) && !inCode(f.value):
		p.notInCode(f.value.place(), f.key)
	case ofEpic(f):
	case ok && !f.known:
		p.add(f.at, fmt.Sprintf("did you mean **%s:**? %s", near, asWords), "%s is no field of the epic", epic.Quoted(f.key))
	default:
		p.add(f.at, "put it in a paragraph of its own; the epic has Checks and Protected", "%s is no field of the epic", epic.Quoted(f.key))
	}
}

func (p *parser) notInCode(at epic.Place, field string) {
	p.add(at, "write `make test`, with the backticks; or leave out the colon after the field: then it is description",
		"the value of %s above the tasks is not in backticks", epic.Quoted(field))
}

// inCode tells a line with something in backticks.
func inCode(l line) bool {
	return slices.ContainsFunc(spans(l.text), func(s span) bool { return s.code })
}

// newWhole holds the fields of the epic itself.
func newWhole() *draft { return newDraft("", "", 0, epic.Place{Line: 1, Column: 1}) }

// takeWhole gives the epic its fields.
func (p *parser) takeWhole() {
	p.epic.Checks, p.epic.Protected = p.whole.task.Checks, p.whole.task.Protected
	p.epicDesc = append(p.epicDesc, p.whole.desc...)
}
