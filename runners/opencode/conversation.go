package opencode

import (
	"encoding/json"
	"strings"

	"relay/runners/conversation"
	"relay/runners/internal/jsonline"
)

// spokenEvent is one line of the stream with what is told of the conversation.
type spokenEvent struct {
	Type      string      `json:"type"`
	Timestamp int64       `json:"timestamp"`
	SessionID string      `json:"sessionID"`
	Part      spokenPart  `json:"part"`
	Error     *eventFault `json:"error"`
}

type spokenPart struct {
	messagePart
	MessageID string      `json:"messageID"`
	CallID    string      `json:"callID"`
	State     spokenState `json:"state"`
	Time      span        `json:"time"`
}

type spokenState struct {
	toolState
	Output json.RawMessage `json:"output"`
	Time   span            `json:"time"`
}

type span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// Conversation returns a reader of the stream of opencode.
func Conversation() conversation.Reader { return &speech{} }

// speech turns the stream into events of a conversation.
type speech struct {
	session string
	message string             // the last one that used something
	used    conversation.Usage // by it, in all of its steps
}

// Line implements [conversation.Reader].
func (s *speech) Line(line []byte, tell func(conversation.Event)) bool {
	ev, fine := jsonline.Read[spokenEvent](line)
	if ev == nil {
		return fine
	}
	if ev.SessionID != "" && ev.SessionID != s.session {
		s.session = ev.SessionID
		tell(conversation.Event{Kind: conversation.Began, ID: s.session, At: max(0, ev.Timestamp)})
	}
	s.event(ev, tell)
	return true
}

func (s *speech) event(ev *spokenEvent, tell func(conversation.Event)) {
	e := conversation.Event{At: max(0, ev.Timestamp), Role: conversation.Assistant}
	p := &ev.Part
	switch ev.Type {
	case "text":
		e.Kind, e.ID, e.Text = conversation.Said, p.MessageID, p.Text.String()
		if p.Time.Start > 0 {
			e.At = p.Time.Start
		}
		tell(e)
	case "tool_use":
		s.tool(e, p, tell)
	case "step_start":
		e.Kind, e.ID = conversation.Said, p.MessageID
		tell(e)
	case "step_finish":
		if p.MessageID != s.message {
			s.message, s.used = p.MessageID, conversation.Usage{}
		}
		in := max(0, p.Tokens.Input+p.Tokens.Cache.Read+p.Tokens.Cache.Write)
		out := max(0, p.Tokens.Output+p.Tokens.Reasoning)
		s.used.Input, s.used.Output, s.used.Context = s.used.Input+in, s.used.Output+out, in+out
		s.used.CostUSD += max(0, p.Cost)
		e.Kind, e.ID, e.Usage = conversation.Used, p.MessageID, s.used
		tell(e)
	case "error":
		if ev.Error != nil {
			e.Kind, e.Role, e.Text = conversation.Said, conversation.System, ev.Error.message()
			tell(e)
		}
	}
}

// tool tells a call, which opencode prints once it is over.
func (s *speech) tool(e conversation.Event, p *spokenPart, tell func(conversation.Event)) {
	said := e
	said.Kind, said.ID = conversation.Said, p.MessageID
	if p.State.Time.Start > 0 {
		said.At = p.State.Time.Start
	}
	tell(said)
	call := said
	call.Kind, call.ID, call.Message = conversation.Called, p.CallID, p.MessageID
	call.Tool, call.Params = p.Tool.String(), p.State.Input
	tell(call)
	over := call
	over.Kind, over.Status, over.Result = conversation.Returned, conversation.Completed, p.State.Output
	if over.At = p.State.Time.End; over.At <= 0 {
		over.At = e.At
	}
	if p.State.Status.String() == "error" {
		over.Status = conversation.Failed
		if over.Result == nil && !p.State.Error.Empty() {
			over.Result = conversation.Text(p.State.Error.String())
		}
		if refused(p.State.Error.String()) {
			over.Status = conversation.Rejected
		}
	}
	tell(over)
}

// refused reports whether a call failed since opencode did not allow it.
func refused(text string) bool {
	return strings.Contains(text, rejection) || strings.Contains(text, forbidden)
}

// The words with which opencode tells that a call was not allowed: by the answer to a question, and by a rule.
const (
	rejection = "The user rejected permission"
	forbidden = "The user has specified a rule which prevents you"
)

// message is what a fault says.
func (f *eventFault) message() string {
	if f.Data.Message != "" {
		return f.Data.Message
	}
	return f.Name
}
