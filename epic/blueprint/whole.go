package blueprint

import (
	"slices"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/plaintext"
)

// wholeFields are the fields that an epic has as a task has them, as a hint shows them. Before the first task they are the
// epic's.
var wholeFields = []string{"Checks", "Protected"}

// ofEpic reads a block outside of tasks that names checks of the whole epic, or what it protects, in backticks. It is false for a block
// without any of these fields. Above the tasks one that has them and something else, or is nearly one, is a problem: taken for description
// it would leave the epic without what it was to be held to. In a section beside them it is prose, and told.
func (p *parser) ofEpic(b *block, beside bool) bool {
	first := b.first()
	open := p.whole.open
	values := b.kind == code || b.kind == list && !slices.ContainsFunc(first, func(l line) bool { return !inCode(l) })
	if open != "" && values {
		p.whole.block(b)
		return true
	}
	p.whole.open = ""
	switch k := slices.IndexFunc(first, meansEpicField); {
	case k >= 0 && beside && oddLine(b, first) != nil:
		p.skip(first[k].line, "this is part of the epic's description; with nothing else in the paragraph, and the value in backticks, it is a field of the epic")
	case k >= 0:
		if odd := oddLine(b, first); odd != nil {
			notOfEpic(p, *odd)
		} else {
			p.whole.block(b)
		}
		return true
	case open != "" && len(first) > 0 && !beside:
		notOfEpic(p, first[0])
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

// oddLine returns the first line of a block that is not a field of the epic with its value in backticks; nil if all are.
func oddLine(b *block, first []line) *line {
	field := func(f pair) bool { return ofEpic(f) && (plaintext.Nothing(f.value.text) || inCode(f.value)) }
	var last *pair // that the next line may go on with
	for k, l := range first {
		found := pairs(l)
		switch {
		case len(found) == 0 && last != nil && b.kind == paragraph && last.goesOn() && inCode(l):
			last.extend(l)
		case len(found) == 0 || slices.ContainsFunc(found, func(f pair) bool { return !field(f) }):
			return &first[k]
		default:
			last = &found[len(found)-1]
		}
	}
	return nil
}

// notOfEpic reports a line that is nearly a field of the epic, or stands among them.
func notOfEpic(p *parser, l line) {
	p.add(l.place(), "an epic has **Checks:** and **Protected:**, with values in `backticks`, in a paragraph of their own; without the colon it is description",
		"%s is not a field of the epic", epic.Quoted(l.text))
}

// inCode tells a line with something in backticks.
func inCode(l line) bool {
	return slices.ContainsFunc(inline.Spans(l.text), func(s inline.Span) bool { return s.Code })
}
