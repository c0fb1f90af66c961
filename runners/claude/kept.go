package claude

import (
	"encoding/json"

	"relay/runners/conversation"
	"relay/runners/internal/jsonline"
)

// keptEvent is one line of a file in which Claude Code keeps a session, below ~/.claude/projects.
type keptEvent struct {
	spokenEvent
	Session   string `json:"sessionId"`
	Dir       string `json:"cwd"`
	Sidechain bool   `json:"isSidechain"` // said by a subagent
	Agent     string `json:"agentId"`     // which
}

// Kept returns a reader of the files in which Claude Code keeps its sessions.
func Kept() conversation.Reader { return &keptSpeech{} }

// keptSpeech turns such a file into events of a conversation.
type keptSpeech struct {
	speech
	session string
}

// Line implements [conversation.Reader].
func (s *keptSpeech) Line(line []byte, tell func(conversation.Event)) bool {
	ev, fine := jsonline.Read[keptEvent](line)
	if ev == nil {
		return fine
	}
	if ev.Session != "" && ev.Session != s.session {
		s.session = ev.Session
		tell(conversation.Event{Kind: conversation.Began, ID: ev.Session, Dir: ev.Dir, At: conversation.Millis(ev.Time)})
	}
	switch kind := ev.Type.String(); kind {
	case "assistant", "user":
		e := conversation.Event{At: conversation.Millis(ev.Time)}
		if ev.Sidechain {
			e.Subtask = ev.Agent
			if e.Subtask == "" {
				e.Subtask = "sidechain:" + s.session
			}
		}
		var m spokenMessage
		_ = json.Unmarshal(ev.Message, &m) // as far as it goes: see decode
		if kind == "user" {
			s.user(e, &ev.spokenEvent, &m, tell)
		} else {
			s.assistant(e, &m, tell)
		}
	}
	return true
}
