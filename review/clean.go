package review

import "relay/epic/plaintext"

// Caps on what a reviewer said.
const (
	maxAnswer   = 1 << 20 // bytes; a longer answer holds no verdict
	maxText     = 4 << 10 // bytes of one string
	maxFindings = 200
)

// line makes a reviewer's string one line of text, see [plaintext.Line]. Folding it also keeps a finding from writing
// headings and fields of its own when it is shown as markdown.
func line(s string) string { return cut(plaintext.Line(s), maxText) }

// cut shortens s to at most max bytes, with a mark, without splitting a character.
func cut(s string, max int) string {
	const mark = " […]"
	if len(s) <= max {
		return s
	}
	return plaintext.Head(s, max-len(mark)) + mark
}
