package runners

import (
	"bytes"
	"strings"

	"relay/epic/plaintext"
)

// Bytes that relay keeps of an agent's texts.
const (
	MaxName   = 100      // a name: of a tool, a model, a field
	MaxEvent  = 200      // an event for people who watch
	MaxDetail = 500      // why a run ended as it did
	MaxString = 4 << 10  // a text in a result
	MaxFinal  = 64 << 10 // the last message
)

// CutMark ends a text that was cut.
const CutMark = " […]"

// CleanText makes agent text safe to store and to show, in at most max bytes: [plaintext.Clean] says what is removed. Text that was cut
// ends with CutMark.
func CleanText(s string, max int) string {
	short := plaintext.Head(s, 2*max) // room for what cleaning takes out, without walking through megabytes
	cut := len(short) < len(s)
	s = strings.TrimSpace(plaintext.Clean(short))
	if len(s) > max || cut && len(s) > max-len(CutMark) {
		s, cut = Shorten(s, max-len(CutMark)), true
	}
	if cut {
		s += CutMark
	}
	return s
}

// stub is how many bytes are left of a word that a cut goes through, unless the word is longer than longWord, which no secret is: half
// of a secret would not be recognized as one.
const (
	stub     = 4
	longWord = 1 << 10
)

// Shorten cuts s to at most max bytes, between two words.
func Shorten(s string, max int) string {
	short := plaintext.Head(s, max)
	if len(short) == len(s) || strings.ContainsAny(s[len(short):len(short)+1], " \n\t") {
		return short
	}
	begin := strings.LastIndexAny(short, " \n\t") + 1
	if len(short)-begin <= longWord {
		short = plaintext.Head(short, min(begin+stub, len(short)))
	}
	return short
}

// OneLine cleans s and folds its white space, for messages that must stay on one line of at most max bytes.
func OneLine(s string, max int) string { return Shorten(plaintext.Line(CleanText(s, 4*max)), max) }

// CleanTextEnd cleans the end of an output, whose first bytes may be the rest of a character, to at most max bytes.
func CleanTextEnd(data []byte, max int) string {
	return CleanText(strings.ToValidUTF8(string(data), "?"), max)
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
