package runners

import "encoding/json"

// The fields that matter of the events that come often.
var (
	claudeEventFields   = []string{"type", "message", "parent_tool_use_id", "is_api_error_message"}
	claudeMessageFields = []string{"id", "content", "usage"}
	claudeBlockFields   = []string{"type", "id", "tool_use_id", "text", "name", "input"}
)

// claudeTurn is an event that comes often: what the agent or one of its tools says, or one that means nothing here.
type claudeTurn struct {
	kind     []byte
	message  claudeMessage
	subagent bool
}

// read reads an event with what is needed of it. ok is false when it has to be decoded in full. It takes over the blocks'
// memory.
func (t *claudeTurn) read(line []byte, blocks []claudeBlock) (ok bool) {
	s := scan{text: line}
	for f := (fields{names: claudeEventFields}); f.next(&s); {
		switch f.name {
		case "type":
			t.kind = s.word()
		case "message":
			t.readMessage(&s, blocks)
		case "parent_tool_use_id":
			t.subagent = s.raw() != nil
		case "is_api_error_message":
			if s.bool() {
				s.giveUp()
			}
		}
	}
	switch string(t.kind) {
	case "", "system", "rate_limit_event", "result":
		return false
	}
	return s.done()
}

func (t *claudeTurn) readMessage(s *scan, blocks []claudeBlock) {
	switch string(t.kind) {
	case "assistant", "user":
		t.message.read(s, blocks)
	case "": // it is yet to come
		s.giveUp()
	default:
		s.value()
	}
}

func (m *claudeMessage) read(s *scan, blocks []claudeBlock) {
	for f := (fields{names: claudeMessageFields}); f.next(s); {
		switch f.name {
		case "id":
			m.ID = s.string()
		case "content":
			m.readBlocks(s, blocks)
		case "usage":
			m.usage = s.raw()
		}
	}
}

func (m *claudeMessage) readBlocks(s *scan, blocks []claudeBlock) {
	if !s.list() {
		s.value()
		return
	}
	for l := (items{}); l.next(s); {
		blocks = append(blocks, claudeBlock{})
		blocks[len(blocks)-1].read(s)
	}
	m.blocks = blocks
}

func (b *claudeBlock) read(s *scan) {
	for f := (fields{names: claudeBlockFields}); f.next(s); {
		switch f.name {
		case "type":
			b.Type = s.string()
		case "id":
			b.ID = s.string()
		case "tool_use_id":
			b.Ends = s.string()
		case "text":
			b.Text = s.string()
		case "name":
			b.Name = s.string()
		case "input":
			b.Input = s.value()
		}
	}
}

// message decodes the message of an event in full, as far as it goes: see decode.
func (ev *claudeEvent) message() claudeMessage {
	var m claudeMessage
	_ = json.Unmarshal(ev.Message, &m)
	_ = json.Unmarshal(m.Content, &m.blocks)
	return m
}
