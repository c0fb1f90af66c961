// Package jsonscan reads JSON as our own encoder writes it, many times as fast as a general decoder.
//
// It does not try to read all of JSON: whatever is unusual makes the scanner give up, and the caller then reads the
// text again with encoding/json, whose word counts.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"
)

// Scanner reads one text after the other. The zero value is ready.
type Scanner struct {
	text   []byte
	at     int
	gaveUp bool
	words  map[string]string
	types  map[reflect.Type][]field
}

// What is kept of one file's words: names and ids of tasks, runners and models, and no hashes.
const (
	maxWords = 1 << 15
	maxWord  = 32
)

// take reads one given byte.
func (s *Scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *Scanner) want(c byte) {
	if !s.take(c) {
		s.gaveUp = true
	}
}

// raw reads a string's bytes between its quotes; plain says that nothing in it is escaped.
func (s *Scanner) raw() (text []byte, plain bool) {
	s.want('"')
	if s.gaveUp {
		return nil, false
	}
	from, plain := s.at, true
	for {
		n := bytes.IndexByte(s.text[s.at:], '"')
		if n < 0 {
			s.gaveUp = true
			return nil, false
		}
		part := s.text[s.at : s.at+n]
		s.at += n + 1
		found := bytes.Contains(part, []byte{'\\'})
		if !found {
			break
		}
		plain = false
		if !escaped(part) {
			break
		}
	}
	text = s.text[from : s.at-1]
	ascii := true
	for _, c := range text {
		if c < ' ' {
			s.gaveUp = true
			return nil, false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(text) {
		s.gaveUp = true
	}
	return text, plain
}

// escaped reports whether the byte after part is escaped: part ends in an odd number of backslashes.
func escaped(part []byte) bool {
	n := 0
	for n < len(part) && part[len(part)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// word reads a string; equal short ones share their memory.
func (s *Scanner) word() string {
	text, plain := s.raw()
	if s.gaveUp {
		return ""
	}
	if !plain {
		return s.unescape(text)
	}
	if len(text) > maxWord {
		return string(text)
	}
	if w, ok := s.words[string(text)]; ok {
		return w
	}
	w := string(text)
	if s.words == nil {
		s.words = map[string]string{}
	}
	if len(s.words) < maxWords {
		s.words[w] = w
	}
	return w
}

func (s *Scanner) unescape(text []byte) string {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++ // raw has seen to it that there is a next byte
		switch c = text[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := codepoint(text[i+1:])
			if !ok {
				s.gaveUp = true
				return ""
			}
			out = utf8.AppendRune(out, r)
			i += 4
		default:
			s.gaveUp = true
			return ""
		}
	}
	return string(out)
}

// codepoint reads four hex digits that are no half of a pair.
func codepoint(text []byte) (rune, bool) {
	if len(text) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(text[:4]), 16, 16)
	if err != nil || v >= 0xd800 && v <= 0xdfff {
		return 0, false
	}
	return rune(v), true
}

// number reads a number's text.
func (s *Scanner) number() []byte {
	from := s.at
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case c >= '0' && c <= '9', c == '-', c == '+', c == '.', c == 'e', c == 'E':
			s.at++
			continue
		}
		break
	}
	return s.text[from:s.at]
}

// uint reads a number without sign.
func (s *Scanner) uint() uint64 {
	text := s.number()
	var n uint64
	for _, c := range text {
		if c < '0' || c > '9' {
			s.gaveUp = true
		}
		n = n*10 + uint64(c-'0')
	}
	if len(text) == 0 || len(text) > 18 || len(text) > 1 && text[0] == '0' {
		s.gaveUp = true
	}
	return n
}

// int reads a whole number.
func (s *Scanner) int() int64 {
	if s.take('-') {
		return -int64(s.uint())
	}
	return int64(s.uint())
}

// float reads a number.
func (s *Scanner) float() float64 {
	text := s.number()
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !strict(text) {
		s.gaveUp = true
	}
	return v
}

// strict reports whether a number that Go reads is one for JSON too.
func strict(text []byte) bool {
	text = bytes.TrimPrefix(text, []byte("-"))
	digit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	if !digit(0) || text[0] == '0' && digit(1) {
		return false
	}
	dot := bytes.IndexByte(text, '.')
	return dot < 0 || digit(dot+1)
}

// bool reads true or false.
func (s *Scanner) bool() bool {
	if bytes.HasPrefix(s.text[s.at:], []byte("true")) {
		s.at += 4
		return true
	}
	if bytes.HasPrefix(s.text[s.at:], []byte("false")) {
		s.at += 5
		return false
	}
	s.gaveUp = true
	return false
}

// time reads a time in UTC.
func (s *Scanner) time() time.Time {
	text, plain := s.raw()
	if !plain || s.gaveUp || len(text) == 0 || text[len(text)-1] != 'Z' {
		s.gaveUp = true
		return time.Time{}
	}
	var t time.Time
	if t.UnmarshalText(text) != nil {
		s.gaveUp = true
	}
	return t
}

// verbatim reads an object and returns its text, which is part of the text being read.
func (s *Scanner) verbatim() []byte {
	from, depth := s.at, 0
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case '"':
			if s.raw(); s.gaveUp {
				return nil
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 {
			break
		}
		s.at++
	}
	s.want('}')
	if s.gaveUp || !json.Valid(s.text[from:s.at]) || s.text[from] != '{' {
		s.gaveUp = true
		return nil
	}
	return s.text[from:s.at]
}
