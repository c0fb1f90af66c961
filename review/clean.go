package review

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps on what a reviewer said.
const (
	maxAnswer   = 1 << 20 // bytes; a longer answer holds no verdict
	maxText     = 4 << 10 // bytes of one string
	maxFindings = 200
)

// line makes a reviewer's string one line of valid UTF-8 without control characters. Folding it also keeps a finding
// from writing headings and fields of its own when it is shown as markdown.
func line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return cut(strings.Join(strings.Fields(s), " "), maxText)
}

// cut shortens s to at most max bytes, with a mark, without splitting a character.
func cut(s string, max int) string {
	const mark = " […]"
	if len(s) <= max {
		return s
	}
	end := max - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
