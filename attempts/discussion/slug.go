package discussion

import (
	"cmp"
	"strings"

	"relay/epic/pattern"
	"relay/epic/plaintext"

	"golang.org/x/text/unicode/norm"
)

// maxSlugBytes bounds the part of an id that follows from the topic: file names have at most 255 bytes, and a letter up to four.
const maxSlugBytes = 160

var (
	noLetters    = pattern.New(`[^\p{L}\p{M}\p{N}]+`)
	firstLetters = pattern.New(`^(?:-?[^-]){0,60}`)
)

// slug makes a text fit for a file name: letters and digits of any script, in lower case, and dashes.
func slug(text string) string {
	text = strings.Trim(noLetters.ReplaceAllString(norm.NFC.String(strings.ToLower(text)), "-"), "-")
	return cmp.Or(strings.TrimRight(plaintext.Head(firstLetters.FindString(text), maxSlugBytes), "-"), "discussion")
}
