// Package jsonline reads the JSON lines that agent CLIs print.
package jsonline

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Object returns a line of a stream without its spaces, and whether it may be a JSON object. Other lines are noise and no
// fault.
func Object(line []byte) ([]byte, bool) {
	line = bytes.TrimSpace(line)
	return line, len(line) >= 2 && line[0] == '{'
}

// Decode reads a line; torn says that it is half of a line, or not JSON. It skips a field of an unexpected type, and reads
// the others. The event shares no memory with the line.
func Decode[E any](line []byte) (ev *E, torn bool) {
	ev = new(E)
	err := json.Unmarshal(line, ev)
	var wrongType *json.UnmarshalTypeError
	return ev, err != nil && !errors.As(err, &wrongType)
}

// Each calls do with the event in a line. It reports whether there was one, or the line was merely empty.
func Each[E any](line []byte, do func(ev *E)) bool {
	ev, fine := Read[E](line)
	if ev != nil {
		do(ev)
	}
	return fine
}

// Read decodes a line. It returns no event for a line that is not an object, or torn; fine is false for such a line unless it is empty.
func Read[E any](line []byte) (ev *E, fine bool) {
	line, ok := Object(line)
	if !ok {
		return nil, len(line) == 0
	}
	ev, torn := Decode[E](line)
	if torn {
		return nil, false
	}
	return ev, true
}
