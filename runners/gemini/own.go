package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// OwnSessions returns where Gemini CLI keeps its sessions.
func OwnSessions() runners.OwnSessions {
	return runners.OwnSessions{
		Folder: home,
		Names:  []string{"tmp/*/chats/session-*.json*"},
		Reader: func(path, workspace string) runners.MessageReader {
			root := adapter.ReadSettings(filepath.Dir(filepath.Dir(path)), ".project_root")
			s := &ownSpeech{dir: strings.TrimSpace(string(root)), workspace: workspace, said: map[string]bool{}}
			return adapter.Conversation[ownLine](s.line)
		},
	}
}

// ownLine is one line of the file of a session: its head, a message, or a change of several messages. A file of an earlier version is one
// object, with all messages in it.
type ownLine struct {
	ownMessage
	Session  string       `json:"sessionId"`
	Project  string       `json:"projectHash"`
	Start    string       `json:"startTime"`
	Messages []ownMessage `json:"messages"`
	Set      struct {
		Messages []ownMessage `json:"messages"`
	} `json:"$set"`
}

type ownMessage struct {
	sessionRecord
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // a string, or ownParts
	Calls   []struct {
		ID     string             `json:"id"`
		Name   adapter.JSONString `json:"name"`
		Args   json.RawMessage    `json:"args"`
		Result json.RawMessage    `json:"result"`
		Status string             `json:"status"` // success, error, cancelled
		Time   string             `json:"timestamp"`
	} `json:"toolCalls"`
}

type ownPart struct {
	Text adapter.JSONString `json:"text"`
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct {
	session        string
	dir, workspace string
	said           map[string]bool // messages and calls: a message stands there again when its tools have ended
}

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	if l.Session != "" && s.session == "" {
		s.session = l.Session
		if hash := sha256.Sum256([]byte(s.workspace)); s.dir == "" && l.Project == hex.EncodeToString(hash[:]) {
			s.dir = s.workspace
		}
		tell(runners.Message{Kind: runners.Began, ID: l.Session, Dir: s.dir, At: runners.Millis(l.Start)})
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
	e.Text = adapter.JSONString(m.Content).String()
	var parts []ownPart
	if json.Unmarshal(m.Content, &parts) == nil {
		e.Text = ""
		for _, p := range parts {
			e.Text += p.Text.String()
		}
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
		s.said[m.ID] = true
		tell(e)
		if m.Tokens != nil {
			u := m.Tokens.usage()
			tell(runners.Message{Kind: runners.Used, ID: m.ID, At: e.At, Usage: runners.MessageUsage{
				Input: u.InputTokens, Output: u.OutputTokens, Context: u.InputTokens + u.OutputTokens,
			}})
		}
	}
	for i := range m.Calls {
		c := &m.Calls[i]
		if s.said["call "+c.ID] {
			continue
		}
		s.said["call "+c.ID] = true
		call := runners.Message{Kind: runners.Called, ID: c.ID, Message: m.ID, At: e.At, Tool: c.Name.String(), Params: c.Args}
		tell(call)
		call.Kind, call.At, call.Result, call.Status = runners.Returned, runners.Millis(c.Time), c.Result, runners.ActionFailed
		switch c.Status {
		case "success":
			call.Status = runners.ActionCompleted
		case "cancelled":
			call.Status = runners.ActionCancelled
		}
		tell(call)
	}
}
