package discussion

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// How long the part of an id may be that follows from the topic: file names have at most 255 bytes, and a letter up to four.
const (
	maxSlugLetters = 60
	maxSlugBytes   = 160
)

// slug makes a text fit for a file name: letters and digits of any script, in lower case, and dashes.
func slug(text string) string {
	var b strings.Builder
	letters, dash := 0, false
	for _, r := range norm.NFC.String(strings.ToLower(text)) {
		if !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number) {
			dash = true
			continue
		}
		size := utf8.RuneLen(r)
		if dash && b.Len() > 0 {
			size++
		}
		if letters++; letters > maxSlugLetters || b.Len()+size > maxSlugBytes {
			break
		}
		if dash && b.Len() > 0 {
			b.WriteByte('-')
		}
		dash = false
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return "discussion"
	}
	return b.String()
}
