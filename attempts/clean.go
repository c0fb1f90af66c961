package attempts

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text of unknown origin safe to store and to show: valid UTF-8, no terminal escapes, no control or
// direction-changing characters except newline and tab, at most max bytes with a mark where it was cut.
func Clean(s string, max int) string {
	cut := 0
	if limit := 4*max + 64; len(s) > limit { // what is cleaned away has to be looked at, but not without end
		cut = len(s) - runeStart(s, limit)
		s = s[:len(s)-cut]
	}
	if !plain(s) {
		s = scrub(s)
	}
	if cut == 0 && len(s) <= max {
		return s
	}
	mark := fmt.Sprintf(" … [%d bytes cut]", cut+len(s)-min(max, len(s)))
	if len(mark) > max {
		mark = ""
	}
	return s[:runeStart(s, min(max-len(mark), len(s)))] + mark
}

// runeStart moves i back to where a character begins.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// plain reports whether there is nothing to do, which is the usual case.
func plain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

func scrub(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\r':
			if !strings.HasPrefix(s, "\r\n") {
				b.WriteByte('\n')
			}
		case r == 0x1b:
			n = escape(s)
		case r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\n' || r == '\t' || !hidden(r):
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// hidden reports whether a character changes how others are shown, or is no character at all.
func hidden(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r) || unicode.Is(unicode.Noncharacter_Code_Point, r) || r == '\ufeff'
}

// escape is the length of the terminal escape sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		return 2 + control(s[2:])
	case ']', 'P', 'X', '^', '_':
		return 2 + command(s[2:])
	}
	if s[1] >= 0x20 && s[1] < 0x7f {
		return 2
	}
	return 1
}

// control is the length of a control sequence behind its beginning: parameters, then one final byte.
func control(s string) int {
	for i := range len(s) {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
		if s[i] < 0x20 || s[i] > 0x7e {
			return i
		}
	}
	return len(s)
}

// command is the length of a command string behind its beginning, up to BEL or ST. An unfinished one takes the line at most.
func command(s string) int {
	for i := range len(s) {
		switch {
		case s[i] == 0x07:
			return i + 1
		case strings.HasPrefix(s[i:], "\x1b\\"):
			return i + 2
		case s[i] == '\n':
			return i
		}
	}
	return len(s)
}
