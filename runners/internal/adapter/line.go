package adapter

import (
	"bytes"
	"encoding/json"
	"errors"

	"relay/runners"
)

// JSONObject returns a line of a stream without its spaces, and whether it may be a JSON object. Other lines are noise and no
// fault.
func JSONObject(line []byte) ([]byte, bool) {
	line = bytes.TrimSpace(line)
	return line, len(line) >= 2 && line[0] == '{'
}

// ReadJSON decodes a line that is a JSON object; nil: it is none, or torn, which is half of one or not JSON. It skips a field of an
// unexpected type, and reads the others. The event shares no memory with the line.
func ReadJSON[E any](line []byte) (ev *E, torn bool) {
	line, ok := JSONObject(line)
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

// Conversation reads lines of JSON as a [runners.MessageReader]. It tells what the event in each line says.
type Conversation[E any] func(line []byte, ev *E, tell func(runners.Message))

// Line implements [runners.MessageReader].
func (c Conversation[E]) Line(line []byte, tell func(runners.Message)) bool {
	ev, torn := ReadJSON[E](line)
	if ev != nil {
		c(line, ev, tell)
	}
	return ev != nil || !torn && len(bytes.TrimSpace(line)) == 0
}

// Ends are what programs call the ends of a tool call. Another word means that the call goes on.
var Ends = map[string]runners.ActionStatus{
	"completed": runners.ActionCompleted, "success": runners.ActionCompleted, "cancelled": runners.ActionCancelled,
	"error": runners.ActionFailed, "failed": runners.ActionFailed,
}
