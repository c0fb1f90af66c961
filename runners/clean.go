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
	if len(s) > max || cut && len(s) > max-len(cutMark) {
		s, cut = shorten(s, max-len(cutMark)), true
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

// stub is what is left of a word that a cut goes through, in bytes, unless it is longer than any secret: nobody knows half
// a secret for one.
const (
	stub     = 4
	longWord = 1 << 10
)

// shorten cuts s to at most max bytes, between two words.
func shorten(s string, max int) string {
	short := truncate(s, max)
	if len(short) == len(s) || strings.ContainsAny(s[len(short):len(short)+1], " \n\t") {
		return short
	}
	begin := strings.LastIndexAny(short, " \n\t") + 1
	if len(short)-begin <= longWord {
		short = truncate(short, min(begin+stub, len(short)))
	}
	return short
}

// lastWords is the end of s, at most max bytes of it and no half of a word.
func lastWords(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := s[len(s)-max:]
	return strings.TrimSpace(strings.ToValidUTF8(end[halfWord([]byte(end)):], ""))
}

// oneLine cleans s and folds its white space, for messages that must stay on one line.
func oneLine(s string, max int) string {
	if len(s) <= max && flat(s) {
		return s
	}
	return shorten(strings.Join(strings.Fields(clean(s, 4*max)), " "), max)
}

// flat reports that there is nothing in s to clean or to fold, as in most names.
func flat(s string) bool {
	space := true
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = s[i] == ' '
	}
	return !space
}

// lastText cleans the end of an output. Its first bytes may be the rest of a character, and its first word that of one.
func lastText(data []byte, max int) string {
	return clean(strings.ToValidUTF8(string(data), "?"), max)
}
