package terminal

import (
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"relay/epic/plaintext"
)

// Pad fills text up to width columns.
func Pad(s string, width int) string {
	if missing := width - displaywidth.String(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}

// Wrap breaks one paragraph at spaces, and words that are wider than a line anywhere, and puts indent before every line.
func Wrap(s string, width int, indent string) string {
	room := max(width-len(indent), 20)
	var lines []string
	row := ""
	for word := range strings.FieldsSeq(plaintext.Escape(s)) {
		if row != "" && displaywidth.String(row)+1+displaywidth.String(word) <= room {
			row += " " + word
			continue
		}
		if row != "" {
			lines = append(lines, row)
		}
		for displaywidth.String(word) > room {
			head := displaywidth.TruncateString(word, room, "")
			if head == "" {
				break // one character wider than a line
			}
			lines, word = append(lines, head), word[len(head):]
		}
		row = word
	}
	return indent + strings.Join(append(lines, row), "\n"+indent)
}

// Hang is Wrap for text that begins behind something: its first line has no indent.
func Hang(s string, width int, indent string) string {
	return strings.TrimLeft(Wrap(s, width, indent), " ")
}

// WrapLines breaks text at spaces and keeps its own line breaks, as those of a list.
func WrapLines(s string, width int, indent string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, text := range lines {
		lines[i] = strings.TrimRight(Wrap(text, width, indent), " ")
	}
	return strings.Join(lines, "\n")
}

// Quote returns text in double quotes, cut to one line of 60 columns.
func Quote(s string) string { return fmt.Sprintf("%q", plaintext.Fit(s, 60)) }
