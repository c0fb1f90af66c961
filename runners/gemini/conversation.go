package gemini

import (
	"relay/runners/conversation"
	"relay/runners/internal/jsonline"
)

// Conversation returns a reader of the stream of Gemini CLI.
func Conversation() conversation.Reader {
	return jsonline.Conversation[outputEvent]((&speech{}).event)
}

// speech turns the stream into events of a conversation.
type speech struct {
	answered bool // the model has said something
	going    bool // the last line was a piece of a message
}

func (s *speech) event(_ []byte, ev *outputEvent, tell func(conversation.Event)) {
	e := conversation.Event{At: conversation.Millis(ev.Time)}
	joined := s.going
	s.going = false
	switch ev.Type.String() {
	case "init":
		e.Kind, e.ID, e.Model = conversation.Began, ev.SessionID, ev.Model
	case "message":
		e.Kind, e.Role, e.Text = conversation.Said, conversation.Assistant, ev.Content.String()
		if ev.Role.String() == "user" {
			e.Role, e.Echo = conversation.User, !s.answered
		} else {
			s.answered, s.going, e.Joined = true, ev.Delta, joined && ev.Delta
		}
	case "tool_use":
		s.answered = true
		e.Kind, e.ID, e.Tool, e.Params = conversation.Called, ev.ToolID.String(), ev.Tool.String(), ev.Input
	case "tool_result":
		e.Kind, e.ID, e.Status, e.Result = conversation.Returned, ev.ToolID.String(), conversation.Completed, ev.Output
		if ev.Status == statusError {
			e.Status = conversation.Failed
		}
		if e.Result == nil && ev.Error != nil {
			e.Result = jsonline.Raw(ev.Error.Message)
		}
	case "error":
		e.Kind, e.Role, e.Text = conversation.Said, conversation.System, ev.Message
	case "result":
		s.result(e, ev, tell)
		return
	default:
		return
	}
	tell(e)
}

func (s *speech) result(e conversation.Event, ev *outputEvent, tell func(conversation.Event)) {
	if ev.Error != nil {
		e.Kind, e.Role, e.Text = conversation.Said, conversation.System, ev.Error.Message
		tell(e)
	}
	if ev.Stats != nil {
		u := ev.Stats.usage()
		e.Kind, e.Usage = conversation.Used, conversation.Usage{Input: u.InputTokens, Output: u.OutputTokens}
		tell(e)
	}
}
