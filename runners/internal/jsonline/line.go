// Package jsonline reads the JSON lines that agent CLIs print.
package jsonline

import (
	"bytes"
	"encoding/json"
	"errors"

	"relay/runners/conversation"
)

// Object returns a line of a stream without its spaces, and whether it may be a JSON object. Other lines are noise and no
// fault.
func Object(line []byte) ([]byte, bool) {
	line = bytes.TrimSpace(line)
	return line, len(line) >= 2 && line[0] == '{'
}

// Read decodes a line that is a JSON object; nil: it is none, or torn, which is half of one or not JSON. It skips a field of an
// unexpected type, and reads the others. The event shares no memory with the line.
func Read[E any](line []byte) (ev *E, torn bool) {
	line, ok := Object(line)
	if !ok {
		return nil, false
	}
	ev = new(E)
	err := json.Unmarshal(line, ev)
	if _, wrongType := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !wrongType {
		return nil, true
	}
	return ev, false
}

// Conversation reads lines of JSON as a [conversation.Reader]. It tells what the event in each line says.
type Conversation[E any] func(line []byte, ev *E, tell func(conversation.Event))

// Line implements [conversation.Reader].
func (c Conversation[E]) Line(line []byte, tell func(conversation.Event)) bool {
	ev, torn := Read[E](line)
	if ev != nil {
		c(line, ev, tell)
	}
	return ev != nil || !torn && len(bytes.TrimSpace(line)) == 0
}
