package discussion

import (
	"bytes"
	"unicode/utf8"
)

// byteOrderMark may begin a file; the parser of YAML does not count it.
const byteOrderMark = "\xef\xbb\xbf"

// lines knows where the lines of a text begin, as the parser of YAML counts them.
type lines struct {
	raw    []byte
	starts []int // of each line; the last is the end of the text
}

func linesOf(raw []byte) lines {
	l := lines{raw: raw, starts: []int{0}}
	if bytes.HasPrefix(raw, []byte(byteOrderMark)) {
		l.starts[0] = len(byteOrderMark)
	}
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRune(raw[i:])
		i += size
		switch r {
		case '\r':
			if i < len(raw) && raw[i] == '\n' {
				i++
			}
			fallthrough
		case '\n', 0x85, 0x2028, 0x2029:
			l.starts = append(l.starts, i)
		}
	}
	if l.starts[len(l.starts)-1] != len(raw) {
		l.starts = append(l.starts, len(raw))
	}
	return l
}

func (l lines) count() int { return len(l.starts) - 1 }

// line returns a line, from 1, with its end.
func (l lines) line(n int) []byte { return l.raw[l.starts[n-1]:l.starts[n]] }

// offset is where a character stands that the parser has named by its line and column, both from 1. ok is false when there is none.
func (l lines) offset(line, column int) (at int, ok bool) {
	if line < 1 || line > l.count() || column < 1 {
		return 0, false
	}
	at = l.starts[line-1]
	for ; column > 1; column-- {
		if at >= l.starts[line] {
			return 0, false
		}
		_, size := utf8.DecodeRune(l.raw[at:])
		at += size
	}
	return at, true
}

func (l lines) eol() string {
	if l.count() > 0 && bytes.HasSuffix(l.line(1), []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}
