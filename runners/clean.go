package runners

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps on what an agent said, in bytes.
const (
	maxString = 4 << 10
	maxDetail = 500
	maxEvent  = 200
	maxFinal  = 64 << 10
)

const cutMark = " […]"

// escapes matches the terminal sequences agents print: CSI (colours, cursor) and OSC (titles, links).
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

// clean makes agent text safe to store and to show: valid UTF-8 of at most max bytes, without escape sequences,
// control characters (except newline and tab) and marks that reorder text on the screen.
func clean(s string, max int) string {
	cut := len(s) > 2*max
	if cut { // room for what cleaning takes out, without walking through megabytes
		s = s[:2*max]
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = escapes.ReplaceAllString(s, "")
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) > max {
		s, cut = truncate(s, max-len(cutMark)), true
	} else if cut && len(s) > max-len(cutMark) {
		s = truncate(s, max-len(cutMark))
	}
	if cut {
		s += cutMark
	}
	return s
}

// truncate cuts s to at most max bytes without splitting a character.
func truncate(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// oneLine cleans s and folds its white space, for messages that must stay on one line.
func oneLine(s string, max int) string {
	return truncate(strings.Join(strings.Fields(clean(s, 4*max)), " "), max)
}

// lastText cleans the end of an output. Its first bytes may be the rest of a character.
func lastText(data []byte, max int) string {
	return clean(strings.ToValidUTF8(string(data), "?"), max)
}
