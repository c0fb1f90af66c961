package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"relay/orchestrator/words"
)

// scrubber writes text with every character that could drive a terminal turned into a visible escape. The escapes are
// those of JSON, so that a JSON document keeps its meaning. After a failed write it swallows everything: whoever must
// know asks failure.
type scrubber struct {
	w     io.Writer
	blank func(string) string // takes secrets out; nil: nobody does
	tail  []byte              // begin of a character whose end has not been written yet
	err   error
	lost  bool // nobody minds when what is written gets lost
}

func newScrubber(w io.Writer) *scrubber { return &scrubber{w: w} }

// Write never fails and never stops: nobody reading relay's output is no reason to end a night.
func (s *scrubber) Write(p []byte) (int, error) {
	n := len(p)
	if s.err != nil {
		return n, nil
	}
	if len(s.tail) > 0 {
		p = append(s.tail, p...)
		s.tail = nil
	}
	if whole := completeRunes(p); whole < len(p) {
		s.tail = append([]byte(nil), p[whole:]...)
		p = p[:whole]
	}
	text := string(p)
	if s.blank != nil {
		text = s.blank(text)
	}
	_, s.err = io.WriteString(s.w, safe(text))
	return n, nil
}

// failure is the first error of writing, unless it only says that nobody reads any more.
func (s *scrubber) failure() error {
	if s.err == nil || s.lost || isHungUp(s.err) {
		return nil
	}
	return fmt.Errorf("write the output: %w", s.err)
}

// completeRunes is the length of p without a character that is cut off at its end.
func completeRunes(p []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		if b := p[len(p)-back]; utf8.RuneStart(b) {
			if !utf8.FullRune(p[len(p)-back:]) {
				return len(p) - back
			}
			break
		}
	}
	if n := len(p); n > 0 && p[n-1] == '\r' {
		return n - 1
	}
	return len(p)
}

// pad fills text up to width columns.
func pad(s string, width int) string {
	if missing := width - displaywidth.String(s); missing > 0 {
		return s + strings.Repeat(" ", missing)
	}
	return s
}

// wrap breaks one paragraph at spaces, and words that are wider than a line anywhere, and puts indent before every line.
func wrap(s string, width int, indent string) string {
	room := max(width-len(indent), 20)
	var lines []string
	row := ""
	for _, word := range strings.Fields(safe(s)) {
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

// wrapLines breaks text at spaces and keeps its own line breaks, as those of a list.
func wrapLines(s string, width int, indent string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, text := range lines {
		lines[i] = strings.TrimRight(wrap(text, width, indent), " ")
	}
	return strings.Join(lines, "\n")
}

// The words of package words, by the names that every command uses.

func safe(s string) string              { return words.Safe(s) }
func line(s string, width int) string   { return words.Line(s, width) }
func count(n int, noun string) string   { return words.Count(n, noun) }
func span(d time.Duration) string       { return words.Span(d) }
func amount(n int64) string             { return words.Amount(n) }
func some(names []string, n int) string { return words.Some(names, n) }
func after(text string) string          { return words.After(text) }
