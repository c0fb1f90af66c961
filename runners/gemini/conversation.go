package gemini

import (
	"relay/runners"
	"relay/runners/internal/adapter"
)

// Conversation returns a reader of the stream of Gemini CLI.
func Conversation() runners.MessageReader {
	return adapter.Conversation[outputEvent]((&speech{}).event)
}

// speech turns the stream into events of a conversation.
type speech struct {
	answered bool // the model has said something
	going    bool // the last line was a piece of a message
}

func (s *speech) event(_ []byte, ev *outputEvent, tell func(runners.Message)) {
	e := runners.Message{At: runners.Millis(ev.Time)}
	joined := s.going
	s.going = false
	switch ev.Type.String() {
	case "init":
		e.Kind, e.ID, e.Model = runners.Began, ev.SessionID, ev.Model
	case "message":
		e.Kind, e.Role, e.Text = runners.Said, runners.Assistant, ev.Content.String()
		if ev.Role.String() == "user" {
			e.Role, e.Echo = runners.User, !s.answered
		} else {
			s.answered, s.going, e.Joined = true, ev.Delta, joined && ev.Delta
		}
	case "tool_use":
		s.answered = true
		e.Kind, e.ID, e.Tool, e.Params = runners.Called, ev.ToolID.String(), ev.Tool.String(), ev.Input
	case "tool_result":
		e.Kind, e.ID, e.Status, e.Result = runners.Returned, ev.ToolID.String(), runners.ActionCompleted, ev.Output
		if ev.Status == statusError {
			e.Status = runners.ActionFailed
		}
		if e.Result == nil && ev.Error != nil {
			e.Result = adapter.RawJSON(ev.Error.Message)
		}
	case "error":
		e.Kind, e.Role, e.Text = runners.Said, runners.System, ev.Message
	case "result":
		s.result(e, ev, tell)
		return
	default:
		return
	}
	tell(e)
}

func (s *speech) result(e runners.Message, ev *outputEvent, tell func(runners.Message)) {
	if ev.Error != nil {
		e.Kind, e.Role, e.Text = runners.Said, runners.System, ev.Error.Message
		tell(e)
	}
	if ev.Stats != nil {
		u := ev.Stats.usage()
		e.Kind, e.Usage = runners.Used, runners.MessageUsage{Input: u.InputTokens, Output: u.OutputTokens}
		tell(e)
	}
}
