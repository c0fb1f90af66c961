package reanchor

import (
	"strings"
	"unicode"
)

// clean stands in for attempts.Clean.
func clean(s string, max int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
	return clip(s, max, false)
}
