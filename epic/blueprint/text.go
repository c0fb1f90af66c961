package blueprint

import (
	"regexp"
	"strings"
)

var (
	// boldKey is **Key:** or **Key**: at the beginning of a text.
	boldKey = regexp.MustCompile(`^\*\*([^*:]{1,40})(?::\*\*|\*\*[ \t]*:)[ \t]*`)
	box     = regexp.MustCompile(`^\[([ xX])\](?:[ \t]+|$)`)
	escape  = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	note    = regexp.MustCompile(`[ \t]*\([^()]*\)$`)
)

// checkbox takes the box off a list item's text.
func checkbox(text string) (rest string, checked, found bool) {
	m := box.FindStringSubmatch(text)
	if m == nil {
		return text, false, false
	}
	return strings.TrimSpace(text[len(m[0]):]), m[1] != " ", true
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

// nothing tells the ways to write that a field has no value.
func nothing(s string) bool {
	switch strings.ToLower(strings.Trim(s, " .`")) {
	case "", "-", "--", "–", "—", "none", "n/a", "nothing", "no":
		return true
	}
	return false
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
	begin := 0
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run := ticks(s[i:])
		end := closing(s, i+run, run)
		if end < 0 {
			i += run
			continue
		}
		if i > begin {
			list = append(list, span{s[begin:i], false, begin})
		}
		list = append(list, span{strings.TrimSpace(s[i+run : end]), true, i + run})
		i = end + run
		begin = i
	}
	if begin < len(s) {
		list = append(list, span{s[begin:], false, begin})
	}
	return list
}

func ticks(s string) int { return len(s) - len(strings.TrimLeft(s, "`")) }

// closing finds the run of backticks that ends code, or -1.
func closing(s string, from, run int) int {
	for i := from; i < len(s); {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			return -1
		}
		i += next
		n := ticks(s[i:])
		if n == run {
			return i
		}
		i += n
	}
	return -1
}

// pieces splits a value at commas that stand neither in code nor in the braces of a glob. Empty pieces are left out.
func pieces(l line) []line {
	var list []line
	depth := 0
	add := func(from, to int) {
		text := l.text[from:to]
		if trimmed := strings.TrimSpace(text); trimmed != "" {
			indent := len(text) - len(strings.TrimLeft(text, " \t"))
			list = append(list, line{trimmed, l.line, l.column + len([]rune(l.text[:from+indent]))})
		}
	}
	begin := 0
	for _, s := range spans(l.text) {
		if s.code {
			continue
		}
		for i, c := range s.text {
			switch c {
			case '{':
				depth++
			case '}':
				depth = max(depth-1, 0)
			case ',', ';':
				if depth == 0 {
					add(begin, s.at+i)
					begin = s.at + i + 1
				}
			}
		}
	}
	add(begin, len(l.text))
	return list
}
