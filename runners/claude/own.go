package claude

import (
	"cmp"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// ownLine is one line of the file of a session or of a subagent, or of what a file beside that says of it. The names of its fields are
// those in JSON but for their case.
type ownLine struct {
	outputEvent
	SessionID, CWD, AgentID, ToolUseID    string // ToolUseID: the call of the subagent of the next lines
	Content                               adapter.JSONString
	IsSidechain, IsMeta, IsCompactSummary bool // said by a subagent; by the CLI in the user's name
	PermissionDecision                    struct{ Decision string }
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct {
	speech
	session, call string
	calls         map[string]string // of subagents
	seen          map[string]bool   // lines: a resumed session may repeat earlier ones
}

var noticePattern = pattern.New(`(?s)<tool-use-id>([^<]+)</tool-use-id>.*<status>([^<]+)</status>`)

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	e := runners.Message{At: runners.Millis(l.Time)}
	if l.UUID == "" {
		s.call = cmp.Or(l.ToolUseID, s.call)
	}
	if s.session == "" && l.SessionID != "" && l.CWD != "" {
		s.session = l.SessionID
		tell(runners.Message{Kind: runners.Began, ID: l.SessionID, Dir: l.CWD, At: e.At})
	}
	if s.session == "" || l.UUID != "" && s.seen[l.UUID] {
		return
	}
	if s.seen[l.UUID] = true; l.IsSidechain {
		s.calls[l.AgentID] = cmp.Or(s.calls[l.AgentID], s.call, l.AgentID, "sidechain:"+s.session)
		e.Subtask = s.calls[l.AgentID]
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
	case e.Kind == runners.Said && e.Role == runners.User && (l.IsMeta || l.IsCompactSummary):
		e.Role = runners.System
	case e.Kind == runners.Returned && l.PermissionDecision.Decision == "reject" && e.Status == runners.ActionFailed:
		e.Status = runners.Rejected
	case e.Kind == runners.Returned && l.Kept.Agent != "":
		s.calls[l.Kept.Agent] = e.ID
	}
	tell(e)
}
