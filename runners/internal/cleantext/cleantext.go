// Package cleantext makes what agents print safe to store and to show, and shortens it between words.
package cleantext

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is kept of an agent's texts, in bytes.
const (
	MaxName   = 100      // a name: of a tool, a model, a field
	MaxEvent  = 200      // an event for people who watch
	MaxDetail = 500      // why a run ended as it did
	MaxString = 4 << 10  // a text in a result
	MaxFinal  = 64 << 10 // the last message
)

// CutMark ends a text that was cut.
const CutMark = " […]"

// escapes matches the terminal sequences agents print: CSI (colours, cursor) and OSC (titles, links).
var escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)`)

// Clean makes agent text safe to store and to show: valid UTF-8 of at most max bytes, without escape sequences, control
// characters (except newline and tab) and marks that reorder text on the screen. Text that was cut ends with CutMark.
func Clean(s string, max int) string {
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
	if len(s) > max || cut && len(s) > max-len(CutMark) {
		s, cut = Shorten(s, max-len(CutMark)), true
	}
	if cut {
		s += CutMark
	}
	return s
}

// Truncate cuts s to at most max bytes without splitting a character.
func Truncate(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}

// stub is how many bytes are left of a word that a cut goes through, unless the word is longer than longWord, which no secret is: half
// of a secret would not be recognized as one.
const (
	stub     = 4
	longWord = 1 << 10
)

// Shorten cuts s to at most max bytes, between two words.
func Shorten(s string, max int) string {
	short := Truncate(s, max)
	if len(short) == len(s) || strings.ContainsAny(s[len(short):len(short)+1], " \n\t") {
		return short
	}
	begin := strings.LastIndexAny(short, " \n\t") + 1
	if len(short)-begin <= longWord {
		short = Truncate(short, min(begin+stub, len(short)))
	}
	return short
}

// LastWords returns the end of s, at most max bytes of it and no half of a word.
func LastWords(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := s[len(s)-max:]
	return strings.TrimSpace(strings.ToValidUTF8(end[HalfWord([]byte(end)):], ""))
}

// OneLine cleans s and folds its white space, for messages that must stay on one line of at most max bytes.
func OneLine(s string, max int) string {
	if len(s) <= max && flat(s) {
		return s
	}
	return Shorten(strings.Join(strings.Fields(Clean(s, 4*max)), " "), max)
}

// flat reports whether there is nothing in s to clean or to fold, as in most names.
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

// CleanEnd cleans the end of an output, whose first bytes may be the rest of a character, to at most max bytes.
func CleanEnd(data []byte, max int) string {
	return Clean(strings.ToValidUTF8(string(data), "?"), max)
}

// LastPart returns at most limit bytes of the end of a text, and no half of a word.
func LastPart(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	end := text[len(text)-limit:]
	return end[HalfWord(end):]
}

// HalfWord returns where in the end of a text its first whole word begins, so that no half of a secret is kept unrecognized.
func HalfWord(end []byte) int {
	return max(0, bytes.IndexAny(end[:min(len(end), longWord)], " \n\t"))
}
