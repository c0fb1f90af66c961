// Package jsonscan reads the JSON lines of agent CLIs: fields by name, without decoding the rest.
package jsonscan

import (
	"bytes"
	"strconv"
)

// Scanner reads one JSON text, once and without memory of its own, which is many times as fast as encoding/json. What it
// reads, encoding/json accepts and reads alike. It gives up on whatever is unusual: a name twice, with an escape or in other
// letters, a value of another type. The caller then decodes the text with encoding/json, whose result counts.
type Scanner struct {
	text []byte
	at   int // negative: it has given up
}

// New returns a Scanner at the beginning of text, which must not change while it is read.
func New(text []byte) Scanner { return Scanner{text: text} }

// maxNested is less than encoding/json takes, and more than any event has.
const maxNested = 1000

// GiveUp makes Done false: the text has to be decoded in full.
func (s *Scanner) GiveUp() { s.at = -1 }

// Done reports whether the text was read to its end and understood.
func (s *Scanner) Done() bool { return s.at == len(s.text) }

// next consumes and returns the next byte that is no space; 0 at the end.
func (s *Scanner) next() byte {
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

// Value consumes any value and returns it as it stands in the text; nil when it is not valid.
func (s *Scanner) Value() []byte {
	if s.at < 0 {
		return nil
	}
	from := skipSpaces(s.text, s.at)
	if s.at = valueEnd(s.text, from, maxNested); s.at < 0 {
		return nil
	}
	return s.text[from:s.at]
}

// Text consumes and returns a string; nil for null. It fails on a value of another type.
func (s *Scanner) Text() String {
	if from := s.at; uint(from) < uint(len(s.text)) && s.text[from] == '"' {
		if s.at = stringEnd(s.text, from+1); s.at < 0 {
			return nil
		}
		return s.text[from:s.at]
	}
	raw := s.Value()
	switch {
	case len(raw) > 0 && raw[0] == '"':
		return raw
	case string(raw) != "null":
		s.GiveUp()
	}
	return nil
}

// Word consumes a string without escapes and returns it without its quotes. It fails on anything else.
func (s *Scanner) Word() []byte {
	raw := s.Text()
	if raw == nil || bytes.IndexByte(raw, '\\') >= 0 {
		s.GiveUp()
		return nil
	}
	return raw[1 : len(raw)-1]
}

// Raw consumes and returns any value; nil for null.
func (s *Scanner) Raw() []byte {
	raw := s.Value()
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// Bool consumes and returns true or false. It fails on anything else.
func (s *Scanner) Bool() bool {
	raw := s.Value()
	if string(raw) != "true" && string(raw) != "false" {
		s.GiveUp()
	}
	return len(raw) == 4
}

// Int consumes and returns a whole number. It fails on anything else.
func (s *Scanner) Int() int64 {
	raw := s.Value()
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		s.GiveUp()
	}
	return n
}

// Float consumes and returns a number. It fails on anything else.
func (s *Scanner) Float() float64 {
	raw := s.Value()
	if len(raw) == 0 || raw[0] > '9' || raw[0] == '"' {
		s.GiveUp()
		return 0
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		s.GiveUp()
	}
	return n
}

// Fields reads the fields of an object that have one of Names, and skips the others. While Next is true, the value of the
// field called Name is to be read.
type Fields struct {
	Names []string
	Name  string
	seen  uint32 // a bit for each name
	begun bool
}

// Next advances to the next wanted field; false at the end of the object, or when s has given up.
func (f *Fields) Next(s *Scanner) bool {
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
			f.Name, s.at = f.Names[i], end
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

// nextName reads up to the value of the next field. Without one, end is where the object ends, and -1 when it is not valid.
func (f *Fields) nextName(text []byte, at int) (name []byte, end int) {
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

// more consumes the brace or the comma before a field, or the brace that ends the object.
func (f *Fields) more(text []byte, at int) (int, bool) {
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

// find finds a name among those that are looked for, of which none is a single letter. Most others differ in their first
// two.
func (f *Fields) find(name []byte) int {
	first, second := name[0]|0x20, byte(0x80)
	if len(name) > 1 {
		second = name[1] | 0x20
	}
	for i, want := range f.Names {
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

// AtList reports whether a list comes next.
func (s *Scanner) AtList() bool {
	if s.at < 0 {
		return false
	}
	at := skipSpaces(s.text, s.at)
	return at < len(s.text) && s.text[at] == '['
}

// Items reads a list: while Next is true, a value is to be read.
type Items struct{ begun bool }

// Next advances to the next value; false at the end of the list, or when s has given up.
func (l *Items) Next(s *Scanner) bool {
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
	s.GiveUp()
	return false
}
