package jsonscan

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"relay/internal/plaintext"
)

// String is a JSON string as it stands in a line, with its quotes: most of what an agent says is read by nobody. One that
// was scanned is valid as long as its line. nil: there is none.
type String []byte

// UnmarshalJSON decodes a string and copies it: an event that is decoded in full may be kept. A value of another type is
// left out.
func (q *String) UnmarshalJSON(raw []byte) error {
	if len(raw) > 1 && raw[0] == '"' {
		*q = bytes.Clone(raw)
	}
	return nil
}

// Empty reports whether the string is missing or has no characters.
func (q String) Empty() bool { return len(q) <= 2 }

// Bytes returns the string's text, valid as long as the line.
func (q String) Bytes() []byte {
	if q.Empty() {
		return nil
	}
	if text := q[1 : len(q)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text
	}
	return q.Append(nil)
}

// Word returns the text of a string that is compared with fixed words, valid as long as the line. It may hold invalid UTF-8.
func (q String) Word() []byte {
	if q.Empty() {
		return nil
	}
	if text := q[1 : len(q)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return q.Append(nil)
}

// String returns the string's text.
func (q String) String() string { return string(q.Bytes()) }

// Head returns the beginning of the text, at most max bytes of it and no half of a character.
func (q String) Head(max int) string {
	if len(q)-2 <= max {
		return plaintext.Head(q.String(), max)
	}
	text, ok := unquote(make([]byte, 0, max+utf8.UTFMax), q, max+utf8.UTFMax)
	if !ok {
		text = q.decoded()
	}
	return plaintext.Head(string(text), max)
}

const (
	longest  = 6        // bytes of a line that one byte of a string may take: \u0041
	furthest = 64 << 10 // bytes in which Tail looks for a place to cut at
)

// Tail returns a shorter string with the same end, of which at least the last least bytes are kept; what is before them is
// not read.
func (q String) Tail(least int) String {
	far := len(q) - 1 - longest*least
	for cut := far; cut > longest && cut > far-furthest; cut-- {
		if q.begins(cut) {
			return q[cut-1:]
		}
	}
	return q
}

// begins reports whether it is plain that a character, or an escape for one, begins at a place.
func (q String) begins(at int) bool {
	if q[at] == '\\' {
		return q[at-1] != '\\' && q[at+1] != 'u' // which may be the second half of a pair
	}
	return utf8.RuneStart(q[at]) && bytes.IndexByte(q[at-longest:at], '\\') < 0
}

// Append appends the text to a slice.
func (q String) Append(to []byte) []byte {
	if q.Empty() {
		return to
	}
	text, ok := unquote(to, q, len(q))
	if !ok {
		return append(to, q.decoded()...)
	}
	return text
}

// decoded returns the text that encoding/json reads.
func (q String) decoded() []byte {
	var text string
	_ = json.Unmarshal(append([]byte{'"'}, q[1:]...), &text) // it is a string: see UnmarshalJSON and ending
	return []byte(text)
}

// unquote appends the beginning of a string's text, at least room bytes if it has so many. ok is false when there is in it
// what is no character: half of a pair, or invalid UTF-8.
func unquote(to []byte, q String, room int) (text []byte, ok bool) {
	rest := q[1 : len(q)-1]
	room += len(to)
	for len(rest) > 0 && len(to) < room {
		n := bytes.IndexByte(rest, '\\')
		if n < 0 {
			n = len(rest)
		}
		if !utf8.Valid(rest[:n]) {
			return to, false
		}
		to = append(to, rest[:min(n, room-len(to))]...)
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		if rest[1] != 'u' {
			to, rest = append(to, unescaped(rest[1])), rest[2:]
			continue
		}
		r, _ := codepoint(rest[2:])
		if r >= 0xd800 && r < 0xe000 {
			return to, false
		}
		to, rest = utf8.AppendRune(to, r), rest[6:]
	}
	return to, true
}

// unescaped returns the character that one after a backslash stands for.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// codepoint reads four hexadecimal digits.
func codepoint(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range text[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
