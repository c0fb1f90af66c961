package blueprint

import (
	"slices"

	"relay/epic"
)

// wholeFields are the fields that an epic has as a task has them. Before the first task they are the epic's.
var wholeFields = []string{"checks", "protected"}

// ofEpic reads a block before the first task that names checks of the whole epic, or what it protects, in backticks:
// words beside a field's name are more likely to be just that. It reports false for any other block.
func (p *parser) ofEpic(b *block) bool {
	if p.whole.open != "" && (b.kind == code || b.kind == list && !slices.ContainsFunc(b.items, func(i item) bool {
		return len(i.lines) == 0 || !inCode(i.lines[0])
	})) {
		p.whole.block(p, b)
		return true
	}
	p.whole.open = ""
	var first []line
	switch b.kind {
	case paragraph:
		first = b.split()
	case list:
		for _, i := range b.items {
			if len(i.lines) == 0 {
				return false
			}
			first = append(first, i.lines[0])
		}
	default:
		return false
	}
	for _, l := range first {
		if !namesEpicField(l) {
			return false
		}
	}
	p.whole.block(p, b)
	return true
}

// namesEpicField tells a line that is nothing but fields of an epic, with values in backticks or with the values below.
func namesEpicField(l line) bool {
	found := pairs(l)
	for _, f := range found {
		name, _ := fieldName(f.key)
		if !f.strict || !slices.Contains(wholeFields, name) || f.value.text != "" && !inCode(f.value) {
			return false
		}
	}
	return len(found) > 0
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
