package blueprint

import (
	"strings"
	"unicode/utf8"

	"relay/epic"
	"relay/epic/pattern"
)

var (
	// boldKey is **Key:** or **Key**: at the beginning of a text.
	boldKey = pattern.New(`^\*\*([^*:\s][^*:]{0,39})(?::\*\*|\*\*[ \t]*:)[ \t]*`)
	box     = pattern.New(`^\[([ xX]?)\](?:[ \t]+|$)`)
	escape  = pattern.New("\\\\([!-/:-@\\[-`{-~])")
	note    = pattern.New(`[ \t]*\([^()]*\)$`)
)

// checkbox takes the box off a list item's text.
func checkbox(text string) (rest string, checked, found bool) {
	m := box.FindStringSubmatch(text)
	if m == nil {
		return text, false, false
	}
	return strings.TrimSpace(text[len(m[0]):]), strings.TrimSpace(m[1]) != "", true
}

// plain takes off what markdown adds to a name: bold marks around it, and escapes.
func plain(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"**", "__", "`"} {
		if inner, found := strings.CutPrefix(s, mark); found {
			if inner, found := strings.CutSuffix(inner, mark); found && !strings.Contains(inner, mark) {
				s = strings.TrimSpace(inner)
			}
		}
	}
	return escape.ReplaceAllString(s, "$1")
}

// span is a piece of text, and whether it was inline code.
type span struct {
	text string
	code bool
	at   int // offset of the piece
}

// spans cuts text into inline code and what lies between, by the rule of markdown: a run of backticks ends at the next run
// of the same length, and without one it is text.
func spans(s string) []span {
	var list []span
	runs := ticks(s)
	begin := 0
	for k := 0; k < len(runs); k++ {
		end := k + 1
		for end < len(runs) && runs[end].size != runs[k].size {
			end++
		}
		if end == len(runs) {
			continue // and no later run has this size, so there are few such searches
		}
		if runs[k].at > begin {
			list = append(list, span{s[begin:runs[k].at], false, begin})
		}
		from := runs[k].at + runs[k].size
		list = append(list, span{strings.TrimSpace(s[from:runs[end].at]), true, from})
		begin = runs[end].at + runs[end].size
		k = end
	}
	if begin < len(s) {
		list = append(list, span{s[begin:], false, begin})
	}
	return list
}

// run is one or more backticks.
type run struct{ at, size int }

func ticks(s string) []run {
	var runs []run
	for i := 0; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			break
		}
		i += next
		size := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		runs = append(runs, run{i, size})
		i += size
	}
	return runs
}

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
	for _, s := range spans(l.text) {
		if s.code {
			continue
		}
		for i, c := range s.text {
			switch {
			case c == '{', c == '(':
				depth++
			case c == '}', c == ')':
				depth = max(depth-1, 0)
			case (c == ',' || c == ';') && depth == 0:
				add(s.at + i)
			}
		}
	}
	add(len(l.text))
	return list
}
