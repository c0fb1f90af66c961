package opencode

import (
	"cmp"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// ownLine is a session, a message or a part of one. The names of fields without a tag are those in JSON but for their case.
type ownLine struct {
	messagePart
	ID, SessionID, Directory, Role, ModelID string
	Type                                    string      // of a part: text, tool, step-start, step-finish, …
	Error                                   *eventFault // of an answer
	Time                                    struct {
		Created int64
		span
	} `json:"time"`
	State struct {
		toolState
		Metadata struct{ SessionID string } // that the call began
	} `json:"state"`
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct {
	speech
	calls map[string]string // that began the sessions of subagents
	last  runners.Message   // the last message, without its text
}

// ownTypes are what the stream calls the parts of a message.
var ownTypes = map[string]string{"text": "text", "tool": "tool_use", "step-start": "step_start", "step-finish": "step_finish"}

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	switch {
	case l.Directory != "" && s.session == "":
		s.session, s.calls = l.ID, map[string]string{}
		tell(runners.Message{Kind: runners.Began, ID: l.ID, Dir: l.Directory, At: max(0, l.Time.Created)})
	case s.session == "" || l.Directory != "":
	case l.Role == "user" || l.Role == "assistant":
		s.last = runners.Message{Kind: runners.Said, ID: l.ID, Role: runners.Role(l.Role), Model: l.ModelID, At: max(0, l.Time.Created)}
		if l.SessionID != s.session {
			s.last.Subtask = cmp.Or(s.calls[l.SessionID], l.SessionID)
		}
		tell(s.last)
		if l.Error != nil {
			e := s.last
			e.ID, e.Role, e.Text = "", runners.System, cmp.Or(l.Error.Data.Message, l.Error.Name)
			tell(e)
		}
	case ownTypes[l.Type] != "" && l.MessageID == s.last.ID:
		s.part(l, tell)
	}
}

// part tells a part of the last message, as the stream has it.
func (s *ownSpeech) part(l *ownLine, tell func(runners.Message)) {
	if l.State.Metadata.SessionID != "" {
		s.calls[l.State.Metadata.SessionID] = l.CallID
	}
	ev := outputEvent{Type: adapter.JSONString(adapter.JSONQuote(ownTypes[l.Type])), Timestamp: s.last.At, Part: l.messagePart}
	ev.Part.Time, ev.Part.State = l.Time.span, l.State.toolState
	s.event(nil, &ev, func(e runners.Message) {
		if state := l.State.Status.String(); e.Kind == runners.Returned && state != "completed" && state != "error" {
			return // it is not over
		}
		if e.Kind == runners.Said {
			e.Role = s.last.Role
		}
		e.Subtask, e.Model = s.last.Subtask, s.last.Model
		tell(e)
	})
}
