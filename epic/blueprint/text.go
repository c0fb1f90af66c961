package blueprint

import (
	"strings"
	"unicode/utf8"

	"relay/epic"
	"relay/epic/blueprint/inline"
	"relay/epic/pattern"
)

var (
	// boldKey is **Key:** or **Key**: at the beginning of a text.
	boldKey = pattern.New(`^\*\*([^*:：\s][^*:：]{0,39})(?:[:：]\*\*|\*\*[ \t]*[:：])[ \t]*`)
	note    = pattern.New(`[ \t]*\([^()]*\)$`)
)

// ruler turns offsets in a line into columns, as long as they do not go back.
type ruler struct {
	line
	offset int
}

func (r *ruler) at(offset int) epic.Place {
	if offset > r.offset {
		r.column += utf8.RuneCountInString(r.text[r.offset:offset])
		r.offset = offset
	}
	return r.place()
}

// part is a piece of a line, without the space around it.
func (r *ruler) part(from, to int) line {
	text := r.text[from:to]
	at := r.at(from + len(text) - len(strings.TrimLeft(text, " \t")))
	return line{strings.TrimSpace(text), at.Line, at.Column}
}

// pieces splits a value at commas that stand neither in code nor in brackets or the braces of a glob. Empty pieces are left out.
func pieces(l line) []line {
	var list []line
	depth, begin := 0, 0
	r := ruler{line: l}
	add := func(to int) {
		if strings.TrimSpace(l.text[begin:to]) != "" {
			list = append(list, r.part(begin, to))
		}
		begin = to + 1
	}
	for _, s := range inline.Spans(l.text) {
		if s.Code {
			continue
		}
		for i, c := range s.Text {
			switch {
			case c == '{', c == '(':
				depth++
			case c == '}', c == ')':
				depth = max(depth-1, 0)
			case (c == ',' || c == ';') && depth == 0:
				add(s.At + i)
			}
		}
	}
	add(len(l.text))
	return list
}
