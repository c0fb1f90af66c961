package runners

import (
	"bytes"
	"strconv"
)

// scan reads one JSON text, once and without memory of its own, which is many times as fast as encoding/json. What it
// reads, encoding/json takes for valid and reads alike. Whatever is unusual makes it give up: a name twice, with an
// escape or in other letters, a value of another type. The text is then read by encoding/json, whose word counts.
type scan struct {
	text []byte
	at   int // negative: it has given up
}

// maxNested is less than encoding/json takes, and more than any event has.
const maxNested = 1000

func (s *scan) giveUp() { s.at = -1 }

// done reports whether the text was read to its end and understood.
func (s *scan) done() bool { return s.at == len(s.text) }

// next takes the next byte that is no space; 0 at the end.
func (s *scan) next() byte {
	if s.at < 0 {
		return 0
	}
	s.at = skipSpaces(s.text, s.at)
	if s.at == len(s.text) {
		return 0
	}
	s.at++
	return s.text[s.at-1]
}

// value takes any value and returns it as it stands there.
func (s *scan) value() []byte {
	if s.at < 0 {
		return nil
	}
	from := skipSpaces(s.text, s.at)
	if s.at = valueEnd(s.text, from, maxNested); s.at < 0 {
		return nil
	}
	return s.text[from:s.at]
}

// string takes a string; null is none.
func (s *scan) string() jsonString {
	if from := s.at; uint(from) < uint(len(s.text)) && s.text[from] == '"' {
		if s.at = stringEnd(s.text, from+1); s.at < 0 {
			return nil
		}
		return s.text[from:s.at]
	}
	raw := s.value()
	switch {
	case len(raw) > 0 && raw[0] == '"':
		return raw
	case string(raw) != "null":
		s.giveUp()
	}
	return nil
}

// word takes a string without escapes.
func (s *scan) word() []byte {
	raw := s.string()
	if raw == nil || bytes.IndexByte(raw, '\\') >= 0 {
		s.giveUp()
		return nil
	}
	return raw[1 : len(raw)-1]
}

// raw takes any value; null is none.
func (s *scan) raw() []byte {
	raw := s.value()
	if string(raw) == "null" {
		return nil
	}
	return raw
}

func (s *scan) bool() bool {
	raw := s.value()
	if string(raw) != "true" && string(raw) != "false" {
		s.giveUp()
	}
	return len(raw) == 4
}

func (s *scan) int() int64 {
	raw := s.value()
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		s.giveUp()
	}
	return n
}

func (s *scan) float() float64 {
	raw := s.value()
	if len(raw) == 0 || raw[0] > '9' || raw[0] == '"' {
		s.giveUp()
		return 0
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		s.giveUp()
	}
	return n
}

// fields reads the fields of an object that have one of the names, and skips the others. While next is true, the value of
// the field called name is to be read.
type fields struct {
	names []string
	name  string
	seen  uint32 // a bit for each name
	begun bool
}

func (f *fields) next(s *scan) bool {
	text, at := s.text, s.at
	for at >= 0 {
		name, end := f.nextName(text, at)
		if name == nil {
			s.at = end
			return false
		}
		i := f.find(name)
		if i >= 0 {
			f.seen |= 1 << i
			f.name, s.at = f.names[i], end
			return true
		}
		switch at = skipSpaces(text, end); {
		case i == unclear:
			at = -1
		case at < len(text) && text[at] == '"':
			at = stringEnd(text, at+1)
		default:
			at = valueEnd(text, at, maxNested)
		}
	}
	s.at = at
	return false
}

// nextName reads up to the value of the next field. Without one, end is where the object ends, and -1 when it is none.
func (f *fields) nextName(text []byte, at int) (name []byte, end int) {
	at, more := f.more(text, skipSpaces(text, at))
	if !more {
		return nil, at
	}
	if at >= len(text) || text[at] != '"' {
		return nil, -1
	}
	end = plainEnd(text, at+1)
	if end == len(text) || text[end] != '"' || end == at+1 {
		return nil, -1
	}
	name = text[at+1 : end]
	if at = skipSpaces(text, end+1); at >= len(text) || text[at] != ':' {
		return nil, -1
	}
	return name, at + 1
}

// more takes the brace or the comma before a field, or the brace that ends the object.
func (f *fields) more(text []byte, at int) (int, bool) {
	if at >= len(text) {
		return -1, false
	}
	switch c := text[at]; {
	case !f.begun && c == '{':
		f.begun = true
		at = skipSpaces(text, at+1)
		if at < len(text) && text[at] == '}' {
			return at + 1, false
		}
		return at, true
	case f.begun && c == ',':
		return skipSpaces(text, at+1), true
	case f.begun && c == '}':
		return at + 1, false
	}
	return -1, false
}

const (
	unknown = -1 // no name that is looked for
	unclear = -2 // for encoding/json it is one of them
)

// find finds a name among those that are looked for, of which none is a single letter. Most others differ in their first two.
func (f *fields) find(name []byte) int {
	first, second := name[0]|0x20, byte(0x80)
	if len(name) > 1 {
		second = name[1] | 0x20
	}
	for i, want := range f.names {
		if first != want[0]|0x20 || second != want[1]|0x20 && second < 0x80 {
			continue
		}
		if string(name) == want && f.seen&(1<<i) == 0 {
			return i
		}
		if bytes.EqualFold(name, []byte(want)) {
			return unclear
		}
	}
	if first >= 0x80 {
		return unclear
	}
	return unknown
}

// list reports whether a list comes next.
func (s *scan) list() bool {
	if s.at < 0 {
		return false
	}
	at := skipSpaces(s.text, s.at)
	return at < len(s.text) && s.text[at] == '['
}

// items reads a list: while next is true, a value is to be read.
type items struct{ begun bool }

func (l *items) next(s *scan) bool {
	c := s.next()
	switch {
	case !l.begun && c == '[':
		l.begun = true
		if at := skipSpaces(s.text, s.at); at < len(s.text) && s.text[at] == ']' {
			s.at = at + 1
			return false
		}
		return true
	case l.begun && c == ',':
		return true
	case l.begun && c == ']':
		return false
	}
	s.giveUp()
	return false
}
