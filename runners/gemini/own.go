package gemini

import (
	"encoding/json"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// ownLine is one line of the file of a session: its head, a message, or a change of several messages. A file of an earlier version is one
// object, with all messages in it. The names of fields without a tag are those in JSON but for their case.
type ownLine struct {
	ownMessage
	SessionID, StartTime string
	Messages             []ownMessage
	Set                  struct{ Messages []ownMessage } `json:"$set"`
}

type ownMessage struct {
	sessionRecord
	Model     string
	Content   json.RawMessage // a string, or a list of parts
	ToolCalls []struct {
		ID, Name, Status, Timestamp string // Status: success, error, cancelled
		Args, Result                json.RawMessage
	}
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct {
	session, dir string
	said         map[string]bool // messages and calls: a message stands there again when its tools have ended
}

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	if l.SessionID != "" && s.session == "" {
		s.session = l.SessionID
		tell(runners.Message{Kind: runners.Began, ID: l.SessionID, Dir: s.dir, At: runners.Millis(l.StartTime)})
	}
	for _, list := range [][]ownMessage{l.Messages, l.Set.Messages, {l.ownMessage}} {
		for i := range list {
			if s.session != "" && list[i].ID != "" {
				s.message(&list[i], tell)
			}
		}
	}
}

func (s *ownSpeech) message(m *ownMessage, tell func(runners.Message)) {
	e := runners.Message{Kind: runners.Said, ID: m.ID, At: runners.Millis(m.Time), Model: m.Model, Role: runners.System}
	var parts []struct{ Text string }
	if json.Unmarshal(m.Content, &parts) != nil {
		e.Text = adapter.JSONString(m.Content).String()
	}
	for _, p := range parts {
		e.Text += p.Text
	}
	switch {
	case m.Type == "gemini":
		e.Role = runners.Assistant
	case m.Type == "user" && e.Text == "":
		return // the results of tools
	case m.Type == "user" && !strings.HasPrefix(e.Text, "<session_context>"):
		e.Role = runners.User
	}
	if !s.said[m.ID] {
		tell(e)
	}
	if m.Tokens != nil && !s.said[m.ID] {
		u := m.Tokens.usage()
		used := runners.MessageUsage{Input: u.InputTokens, Output: u.OutputTokens, Context: u.InputTokens + u.OutputTokens}
		tell(runners.Message{Kind: runners.Used, ID: m.ID, At: e.At, Usage: used})
	}
	s.said[m.ID] = true
	for _, c := range m.ToolCalls {
		if adapter.Ends[c.Status] == "" || s.said["call "+c.ID] {
			continue
		}
		s.said["call "+c.ID] = true
		call := runners.Message{Kind: runners.Called, ID: c.ID, Message: m.ID, At: e.At, Tool: c.Name, Params: c.Args}
		tell(call)
		call.Kind, call.At, call.Result, call.Status = runners.Returned, runners.Millis(c.Timestamp), c.Result, adapter.Ends[c.Status]
		tell(call)
	}
}
