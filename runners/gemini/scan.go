package gemini

import (
	"encoding/json"

	"relay/runners/internal/jsonscan"
)

// messageFields are those that matter of the events that come often.
var messageFields = []string{"type", "role", "content", "tool_name", "tool_id", "parameters", "status", "error"}

// frequentEvent is an event that comes often: what the agent or one of its tools says, or one that means nothing here.
type frequentEvent struct {
	kind                            []byte
	role, content, tool, id, status jsonscan.String
	input                           json.RawMessage
}

// read reads an event with what is needed of it. ok is false when it has to be decoded in full.
func (t *frequentEvent) read(line []byte) (ok bool) {
	s := jsonscan.New(line)
	for f := (jsonscan.Fields{Names: messageFields}); f.Next(&s); {
		switch f.Name {
		case "type":
			t.kind = s.Word()
		case "role":
			t.role = s.Text()
		case "content":
			t.content = s.Text()
		case "tool_name":
			t.tool = s.Text()
		case "tool_id":
			t.id = s.Text()
		case "parameters":
			t.input = s.Value()
		case "status":
			t.status = s.Text()
		case "error":
			if s.Raw() != nil {
				s.GiveUp()
			}
		}
	}
	switch string(t.kind) {
	case "", "init", "error", "result":
		return false
	}
	return s.Done()
}
