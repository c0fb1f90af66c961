package claude

import (
	"encoding/json"

	"relay/runners/internal/jsonscan"
)

// The fields that matter of the events that come often.
var (
	claudeEventFields   = []string{"type", "message", "parent_tool_use_id", "is_api_error_message", "event", "api_message_id"}
	claudeMessageFields = []string{"id", "content", "usage"}
	claudePartFields    = []string{"type", "message", "delta", "usage"}
	claudeStartFields   = []string{"id", "usage"}
	claudeDeltaFields   = []string{"text", "partial_json", "thinking"}
	claudeBlockFields   = []string{"type", "id", "tool_use_id", "text", "name", "input", "is_error"}
)

// frequentEvent is an event that comes often: what the agent or one of its tools says, or one that means nothing here.
type frequentEvent struct {
	kind     []byte
	message  message
	part     messagePart
	partOf   jsonscan.String
	subagent bool
}

// read reads an event with what is needed of it. ok is false when it has to be decoded in full. It takes over the blocks'
// memory.
func (t *frequentEvent) read(line []byte, blocks []contentBlock) (ok bool) {
	s := jsonscan.New(line)
	for f := (jsonscan.Fields{Names: claudeEventFields}); f.Next(&s); {
		switch f.Name {
		case "type":
			t.kind = s.Word()
		case "message":
			t.readMessage(&s, blocks)
		case "parent_tool_use_id":
			t.subagent = s.Raw() != nil
		case "is_api_error_message":
			if s.Bool() {
				s.GiveUp()
			}
		case "event":
			t.readPart(&s)
		case "api_message_id":
			t.partOf = s.Text()
		}
	}
	switch string(t.kind) {
	case "", "system", "rate_limit_event", "result":
		return false
	}
	return s.Done()
}

func (t *frequentEvent) readMessage(s *jsonscan.Scanner, blocks []contentBlock) {
	switch string(t.kind) {
	case "assistant", "user":
		t.message.read(s, blocks)
	case "": // it is yet to come
		s.GiveUp()
	default:
		s.Value()
	}
}

func (t *frequentEvent) readPart(s *jsonscan.Scanner) {
	switch string(t.kind) {
	case streamEventType:
		t.part.read(s)
	case "": // it is yet to come
		s.GiveUp()
	default:
		s.Value()
	}
}

func (p *messagePart) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: claudePartFields}); f.Next(s); {
		switch f.Name {
		case "type":
			p.Type = s.Text()
		case "message":
			p.Message.read(s)
		case "delta":
			p.Delta.read(s)
		case "usage":
			p.Usage = s.Raw()
		}
	}
}

func (m *messageStart) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: claudeStartFields}); f.Next(s); {
		switch f.Name {
		case "id":
			m.ID = s.Text()
		case "usage":
			m.Usage = s.Raw()
		}
	}
}

func (d *contentDelta) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: claudeDeltaFields}); f.Next(s); {
		switch f.Name {
		case "text":
			d.Text = s.Text()
		case "partial_json":
			d.JSON = s.Text()
		case "thinking":
			d.Thinking = s.Text()
		}
	}
}

func (m *message) read(s *jsonscan.Scanner, blocks []contentBlock) {
	for f := (jsonscan.Fields{Names: claudeMessageFields}); f.Next(s); {
		switch f.Name {
		case "id":
			m.ID = s.Text()
		case "content":
			m.readBlocks(s, blocks)
		case "usage":
			m.Usage = s.Raw()
		}
	}
}

func (m *message) readBlocks(s *jsonscan.Scanner, blocks []contentBlock) {
	if !s.AtList() {
		s.Value()
		return
	}
	for l := (jsonscan.Items{}); l.Next(s); {
		blocks = append(blocks, contentBlock{})
		blocks[len(blocks)-1].read(s)
	}
	m.blocks = blocks
}

func (b *contentBlock) read(s *jsonscan.Scanner) {
	for f := (jsonscan.Fields{Names: claudeBlockFields}); f.Next(s); {
		switch f.Name {
		case "type":
			b.Type = s.Text()
		case "id":
			b.ID = s.Text()
		case "tool_use_id":
			b.Ends = s.Text()
		case "text":
			b.Text = s.Text()
		case "name":
			b.Name = s.Text()
		case "input":
			b.Input = s.Value()
		case "is_error":
			b.Failed = s.Bool()
		}
	}
}

// message decodes the message of an event in full, as far as it goes: see decode.
func (ev *outputEvent) message() message {
	var m message
	_ = json.Unmarshal(ev.Message, &m)
	_ = json.Unmarshal(m.Content, &m.blocks)
	return m
}
