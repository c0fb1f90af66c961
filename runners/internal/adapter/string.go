package adapter

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"relay/epic/plaintext"
)

// JSONString is a JSON string with its quotes, as a CLI printed it: most texts of an agent are never shown. nil: the field is missing.
type JSONString []byte

// UnmarshalJSON copies a string, and skips a value of another type.
func (q *JSONString) UnmarshalJSON(raw []byte) error {
	if len(raw) > 1 && raw[0] == '"' {
		*q = bytes.Clone(raw)
	}
	return nil
}

// Empty reports whether the string is missing or has no characters.
func (q JSONString) Empty() bool { return len(q) <= 2 }

// String returns the string's text.
func (q JSONString) String() string {
	if q.Empty() {
		return ""
	}
	if plain := q[1 : len(q)-1]; bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var text string
	_ = json.Unmarshal(q, &text) // UnmarshalJSON keeps strings only
	return text
}

// Head returns the beginning of the text, at most max bytes of it and no half of a character.
func (q JSONString) Head(max int) string {
	text := q.String()
	if head := plaintext.Head(text, max); len(head) < len(text) {
		return strings.Clone(head) // the whole text may be large
	}
	return text
}
