// Package inline reads what stands inside lines of markdown: code, bold names, boxes, and the files and commands that a text names.
package inline

import (
	"strings"

	"relay/epic/pattern"
)

var (
	box    = pattern.New(`^\[([ xX]?)\](?:[ \t]+|$)`)
	escape = pattern.New("\\\\([!-/:-@\\[-`{-~])")
)

// Checkbox takes the box off a list item's text.
func Checkbox(text string) (rest string, checked, found bool) {
	m := box.FindStringSubmatch(text)
	if m == nil {
		return text, false, false
	}
	return strings.TrimSpace(text[len(m[0]):]), strings.TrimSpace(m[1]) != "", true
}

// Plain takes off what markdown adds to a name: bold marks around it, and escapes. The stars of **/a/** are of a glob.
func Plain(s string) string {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"**", "__", "`"} {
		if inner, found := strings.CutPrefix(s, mark); found {
			if inner, found := strings.CutSuffix(inner, mark); found && !strings.Contains(inner, mark) && !strings.HasPrefix(inner, "/") {
				s = strings.TrimSpace(inner)
			}
		}
	}
	return escape.ReplaceAllString(s, "$1")
}

// Span is a piece of text, and whether it was inline code.
type Span struct {
	Text string
	Code bool
	At   int // offset of the piece
}

// Spans cuts text into inline code and what lies between, by the rule of markdown: a run of backticks ends at the next run
// of the same length, and without one it is text.
func Spans(s string) []Span {
	var list []Span
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
			list = append(list, Span{s[begin:runs[k].at], false, begin})
		}
		from := runs[k].at + runs[k].size
		list = append(list, Span{strings.TrimSpace(s[from:runs[end].at]), true, from})
		begin = runs[end].at + runs[end].size
		k = end
	}
	if begin < len(s) {
		list = append(list, Span{s[begin:], false, begin})
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

// FenceAfter returns the marks of the block of code that is open behind a line; "" if none is.
func FenceAfter(open, line string) string {
	line = strings.TrimSpace(line)
	if open != "" {
		if strings.Trim(line, open[:1]) == "" && len(line) >= len(open) {
			return ""
		}
		return open
	}
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && !strings.Contains(line[n:], mark) {
			return line[:n]
		}
	}
	return ""
}
