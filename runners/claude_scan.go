package runners

import "encoding/json"

// The fields that matter of the events that come often.
var (
	claudeEventFields   = []string{"type", "message", "parent_tool_use_id", "is_api_error_message", "event", "api_message_id"}
	claudeMessageFields = []string{"id", "content", "usage"}
	claudePartFields    = []string{"type", "message", "delta", "usage"}
	claudeStartFields   = []string{"id", "usage"}
	claudeDeltaFields   = []string{"text", "partial_json", "thinking"}
	claudeBlockFields   = []string{"type", "id", "tool_use_id", "text", "name", "input"}
)

// claudeTurn is an event that comes often: what the agent or one of its tools says, or one that means nothing here.
type claudeTurn struct {
	kind     []byte
	message  claudeMessage
	part     claudePart
	partOf   jsonString
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
		case "event":
			t.readPart(&s)
		case "api_message_id":
			t.partOf = s.string()
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

func (t *claudeTurn) readPart(s *scan) {
	switch string(t.kind) {
	case claudeStreams:
		t.part.read(s)
	case "": // it is yet to come
		s.giveUp()
	default:
		s.value()
	}
}

func (p *claudePart) read(s *scan) {
	for f := (fields{names: claudePartFields}); f.next(s); {
		switch f.name {
		case "type":
			p.Type = s.string()
		case "message":
			p.Message.read(s)
		case "delta":
			p.Delta.read(s)
		case "usage":
			p.Usage = s.raw()
		}
	}
}

func (m *claudeStart) read(s *scan) {
	for f := (fields{names: claudeStartFields}); f.next(s); {
		switch f.name {
		case "id":
			m.ID = s.string()
		case "usage":
			m.Usage = s.raw()
		}
	}
}

func (d *claudeDelta) read(s *scan) {
	for f := (fields{names: claudeDeltaFields}); f.next(s); {
		switch f.name {
		case "text":
			d.Text = s.string()
		case "partial_json":
			d.JSON = s.string()
		case "thinking":
			d.Thinking = s.string()
		}
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
			m.Usage = s.raw()
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
