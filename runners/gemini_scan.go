package runners

import "encoding/json"

// geminiFields are those that matter of the events that come often.
var geminiFields = []string{"type", "role", "content", "tool_name", "tool_id", "parameters", "error"}

// geminiTurn is an event that comes often: what the agent or one of its tools says, or one that means nothing here.
type geminiTurn struct {
	kind                    []byte
	role, content, tool, id jsonString
	input                   json.RawMessage
}

// read reads an event with what is needed of it. ok is false when it has to be decoded in full.
func (t *geminiTurn) read(line []byte) (ok bool) {
	s := scan{text: line}
	for f := (fields{names: geminiFields}); f.next(&s); {
		switch f.name {
		case "type":
			t.kind = s.word()
		case "role":
			t.role = s.string()
		case "content":
			t.content = s.string()
		case "tool_name":
			t.tool = s.string()
		case "tool_id":
			t.id = s.string()
		case "parameters":
			t.input = s.value()
		case "error":
			if s.raw() != nil {
				s.giveUp()
			}
		}
	}
	switch string(t.kind) {
	case "", "init", "error", "result":
		return false
	}
	return s.done()
}
