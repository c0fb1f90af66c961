package runners

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// jsonString is a JSON string as it stands in a line, with its quotes: most of what an agent says is read by nobody. One
// that was scanned is valid as long as its line. nil: there is none.
type jsonString []byte

// UnmarshalJSON takes a string, and copies it: an event that is decoded in full may be kept. Of a value of another type
// nothing is taken.
func (q *jsonString) UnmarshalJSON(raw []byte) error {
	if len(raw) > 1 && raw[0] == '"' {
		*q = bytes.Clone(raw)
	}
	return nil
}

func (q jsonString) empty() bool { return len(q) <= 2 }

// bytes is what the string says, valid as long as the line.
func (q jsonString) bytes() []byte {
	if q.empty() {
		return nil
	}
	if text := q[1 : len(q)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return text
	}
	return q.append(nil)
}

// word is what a string says that is compared with words of ours, valid as long as the line.
func (q jsonString) word() []byte {
	if q.empty() {
		return nil
	}
	if text := q[1 : len(q)-1]; bytes.IndexByte(text, '\\') < 0 {
		return text
	}
	return q.append(nil)
}

// string is what the string says.
func (q jsonString) string() string { return string(q.bytes()) }

// head is the beginning of what the string says, at most max bytes of it and no half of a character.
func (q jsonString) head(max int) string {
	if len(q)-2 <= max {
		return truncate(q.string(), max)
	}
	text, ok := unquote(make([]byte, 0, max+utf8.UTFMax), q, max+utf8.UTFMax)
	if !ok {
		text = q.decoded()
	}
	return truncate(string(text), max)
}

// longest is how many bytes of a line one byte of a string may take: \u0041.
const longest = 6

// ending is a shorter string that ends alike, with its last least bytes or more; what is before them is not read.
func (q jsonString) ending(least int) jsonString {
	far := len(q) - 1 - longest*least
	for cut := far; cut > longest && cut > far-maxRoom; cut-- {
		if q.begins(cut) {
			return q[cut-1:]
		}
	}
	return q
}

// begins reports whether it is plain that a character, or an escape for one, begins at a place.
func (q jsonString) begins(at int) bool {
	if q[at] == '\\' {
		return q[at-1] != '\\' && q[at+1] != 'u' // which may be the second half of a pair
	}
	return utf8.RuneStart(q[at]) && bytes.IndexByte(q[at-longest:at], '\\') < 0
}

// append appends what the string says.
func (q jsonString) append(to []byte) []byte {
	if q.empty() {
		return to
	}
	text, ok := unquote(to, q, len(q))
	if !ok {
		return append(to, q.decoded()...)
	}
	return text
}

// decoded is what encoding/json reads.
func (q jsonString) decoded() []byte {
	var text string
	_ = json.Unmarshal(append([]byte{'"'}, q[1:]...), &text) // it is a string: see UnmarshalJSON and ending
	return []byte(text)
}

// unquote appends the beginning of what a string says, at least room bytes if it has so many. ok is false when there is in
// it what is no character: half of a pair, or no UTF-8.
func unquote(to []byte, q jsonString, room int) (text []byte, ok bool) {
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

// unescaped is the character that one after a backslash stands for.
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
