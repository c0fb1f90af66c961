package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
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

// safe replaces what could drive a terminal or turn text around by an escape a person can see. Line breaks and tabs
// stay; bytes that are no UTF-8 become U+FFFD.
func safe(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case r == utf8.RuneError:
			b.WriteRune(r)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0, r == utf8.RuneError:
		return true
	case r == 0x061c, r >= 0x200e && r <= 0x200f: // direction marks
		return true
	case r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // separators, bidirectional embeddings and isolates
		return true
	}
	return r == 0xfeff
}

// line folds text into one line of at most width columns.
func line(s string, width int) string {
	return displaywidth.TruncateString(safe(strings.Join(strings.Fields(s), " ")), width, "…")
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

// count says how many there are of something, in words.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// span shows a duration as people say it: 0.4s, 42s, 3m07s, 1h05m.
func span(d time.Duration) string {
	if d = max(d, 0); d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// amount shows a number of tokens: 950, 12k, 1.2M.
func amount(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}
