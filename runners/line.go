package runners

import (
	"bytes"
	"encoding/json"
	"errors"
)

// object returns what a line of a stream holds, if that may be an event: anything else is noise and no fault.
func object(line []byte) ([]byte, bool) {
	line = bytes.TrimSpace(line)
	return line, len(line) >= 2 && line[0] == '{'
}

// decode reads a line in full; torn says that it is half of one, or not JSON. One field of another type than ours spoils no
// event.
func decode[E any](line []byte) (ev *E, torn bool) {
	ev = new(E)
	err := json.Unmarshal(line, ev)
	var wrongType *json.UnmarshalTypeError
	return ev, err != nil && !errors.As(err, &wrongType)
}
