package claude

import (
	"cmp"
	"path/filepath"
	"strings"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// OwnSessions returns where Claude Code keeps its sessions.
func OwnSessions() runners.OwnSessions {
	return runners.OwnSessions{
		Folder: func(env []string) string {
			return cmp.Or(adapter.Variable(env, "CLAUDE_CONFIG_DIR"), adapter.InHome(env, ".claude"))
		},
		Names: []string{"projects/*/????????-????-????-????-????????????.jsonl"},
		Files: func(path string) []string {
			agents, _ := filepath.Glob(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-*.json*")) // ….meta.json before ….jsonl
			return append([]string{path}, agents...)
		},
		Reader: func(string, string) runners.MessageReader {
			return adapter.Conversation[ownLine]((&ownSpeech{calls: map[string]string{}, seen: map[string]bool{}}).line)
		},
	}
}

// ownLine is one line of the file of a session, or what a file beside it says of a subagent.
type ownLine struct {
	outputEvent
	Session   string             `json:"sessionId"`
	Dir       string             `json:"cwd"`
	Sidechain bool               `json:"isSidechain"` // said by a subagent
	Agent     string             `json:"agentId"`     // which
	Meta      bool               `json:"isMeta"`      // said by the CLI in the user's name
	Summary   bool               `json:"isCompactSummary"`
	Content   adapter.JSONString `json:"content"`   // queue-operation
	Call      string             `json:"toolUseId"` // of the subagent in whose file the next lines are
	Decision  struct {
		Decision string `json:"decision"`
	} `json:"permissionDecision"`
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct {
	speech
	session string
	call    string            // of the subagent whose file comes next
	calls   map[string]string // of subagents
	seen    map[string]bool   // lines: a resumed session may repeat earlier ones
}

var noticePattern = pattern.New(`(?s)<tool-use-id>([^<]+)</tool-use-id>.*<status>([^<]+)</status>`)

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	e := runners.Message{At: runners.Millis(l.Time)}
	if l.Call != "" && l.UUID == "" {
		s.call = l.Call
		return
	}
	if s.session == "" && l.Session != "" && l.Dir != "" {
		s.session = l.Session
		tell(runners.Message{Kind: runners.Began, ID: l.Session, Dir: l.Dir, At: e.At})
	}
	if s.session == "" || s.seen[l.UUID] {
		return
	}
	if l.UUID != "" {
		s.seen[l.UUID] = true
	}
	if l.Sidechain {
		if s.calls[l.Agent] == "" {
			s.calls[l.Agent] = cmp.Or(s.call, l.Agent, "sidechain:"+s.session)
		}
		e.Subtask = s.calls[l.Agent]
	}
	switch l.Type.String() {
	case "assistant", "user":
		s.message(e, &l.outputEvent, func(e runners.Message) { s.said(l, e, tell) })
	case "queue-operation":
		if m := noticePattern.FindStringSubmatch(l.Content.String()); m != nil {
			tell(settled(m[1], m[2]))
		}
	}
}

// said tells a message with what only the file says of it.
func (s *ownSpeech) said(l *ownLine, e runners.Message, tell func(runners.Message)) {
	switch {
	case e.Kind == runners.Said && e.Role == runners.User && (l.Meta || l.Summary):
		e.Role = runners.System
	case e.Kind == runners.Returned && l.Decision.Decision == "reject" && e.Status == runners.ActionFailed:
		e.Status = runners.Rejected
	case e.Kind == runners.Returned && l.Outcome.Agent != "":
		s.calls[l.Outcome.Agent] = e.ID
	}
	tell(e)
}
