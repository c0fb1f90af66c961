// Package cursor reads the sessions that Cursor, an editor, keeps in its database. relay does not run Cursor.
package cursor

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"runtime"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// OwnSessions returns where Cursor keeps its sessions.
func OwnSessions() runners.OwnSessions {
	return runners.OwnSessions{
		Folder: func(env []string) string {
			folders := map[string]string{
				"darwin": adapter.InHome(env, "Library", "Application Support"), "windows": runners.Variable(env, "APPDATA"),
			}
			return filepath.Join(cmp.Or(folders[runtime.GOOS], adapter.InHome(env, ".config")), "Cursor", "User", "globalStorage")
		},
		Names: []string{"state.vscdb"},
		Reader: func(string) runners.MessageReader {
			return adapter.Conversation[record]((&speech{calls: map[string]string{}}).line)
		},
	}
}

// record is a session, in whose earlier versions the messages are, or a message, which may be a tool call. The names of its fields are
// those in JSON but for their case.
type record struct {
	CreatedAt, Context json.RawMessage // CreatedAt: milliseconds, or a string
	IsAgentic          *bool

	ComposerID, UnifiedMode, ForceMode, ConversationState string
	ContextTokenLimit, ContextTokensUsed                  int64
	ModelConfig, ModelInfo                                struct{ ModelName string } // ModelInfo: of a message
	WorkspaceIdentifier                                   struct{ URI struct{ FsPath string } }
	Conversation                                          []json.RawMessage

	BubbleID, Text, RawText, CheckpointID, AfterCheckpointID string
	Type                                                     int // 1: the user's
	IsPlanExecution                                          bool
	CursorRules                                              json.RawMessage
	TimingInfo                                               struct{ ClientStartTime, ClientEndTime int64 }
	TokenCount                                               struct{ InputTokens, OutputTokens int64 }
	ToolFormerData                                           struct{ ToolCallID, Name, Status, Params, RawArgs, Result, UserDecision string }
}

// speech turns a session and its messages, each a line of JSON, into events of a conversation. Sessions of subagents follow it.
type speech struct {
	session string
	subtask string            // the call that began the session of the lines now; "": it is the first
	calls   map[string]string // that began subagents
	model   string
	at      int64 // time of the last message
}

func (s *speech) line(line []byte, r *record, tell func(runners.Message)) {
	if r.ComposerID == "" {
		s.message(line, r, tell)
		return
	}
	s.model, s.at = r.ModelConfig.ModelName, r.time(0)
	if s.session != "" {
		s.subtask = cmp.Or(s.calls[r.ComposerID], r.ComposerID)
	} else {
		s.session = r.ComposerID
		tell(runners.Message{
			Kind: runners.Began, ID: s.session, Dir: r.WorkspaceIdentifier.URI.FsPath, Model: s.model, At: s.at, Editor: &runners.EditorFacts{
				Mode: cmp.Or(r.ForceMode, r.UnifiedMode), Chat: r.IsAgentic != nil && !*r.IsAgentic, Context: r.Context, State: r.ConversationState,
			},
		})
		used := runners.MessageUsage{Context: max(0, r.ContextTokensUsed), ContextLimit: max(0, r.ContextTokenLimit)}
		tell(runners.Message{Kind: runners.Used, Usage: used, At: s.at})
	}
	for _, text := range r.Conversation {
		if m, _ := adapter.ReadJSON[record](text); m != nil {
			s.message(text, m, tell)
		}
	}
}

// time returns when a message was said, or else an earlier time.
func (r *record) time(earlier int64) (ms int64) {
	_ = json.Unmarshal(r.CreatedAt, &ms) // or it is a string
	return max(0, cmp.Or(ms, runners.Millis(adapter.JSONString(r.CreatedAt).String()), r.TimingInfo.ClientStartTime, earlier))
}

func (s *speech) message(line []byte, r *record, tell func(runners.Message)) {
	if s.session == "" || r.BubbleID == "" {
		return
	}
	s.at = r.time(s.at)
	e := runners.Message{Kind: runners.Said, ID: r.BubbleID, Subtask: s.subtask, At: s.at, Role: runners.User, Text: cmp.Or(r.Text, r.RawText)}
	if r.Type != 1 {
		e.Role, e.Model = runners.Assistant, cmp.Or(r.ModelInfo.ModelName, s.model)
	}
	e.Editor = &runners.EditorFacts{
		Checkpoint: cmp.Or(r.CheckpointID, r.AfterCheckpointID), PlanStep: r.IsPlanExecution, Context: r.Context, Rules: r.CursorRules,
	}
	_ = json.Unmarshal(line, &e.Editor.More) // it was read before
	delete(e.Editor.More, "text")
	delete(e.Editor.More, "richText")
	tell(e)
	if r.ToolFormerData.ToolCallID != "" {
		s.call(e, r, tell)
	}
	used := runners.MessageUsage{Input: max(0, r.TokenCount.InputTokens), Output: max(0, r.TokenCount.OutputTokens)}
	tell(runners.Message{Kind: runners.Used, Subtask: s.subtask, ID: r.BubbleID, Usage: used, At: s.at})
}

func (s *speech) call(e runners.Message, r *record, tell func(runners.Message)) {
	c := &r.ToolFormerData
	e.Kind, e.ID, e.Message, e.Editor, e.Tool = runners.Called, c.ToolCallID, r.BubbleID, nil, c.Name
	e.Params = adapter.InnerJSON(cmp.Or(c.Params, c.RawArgs))
	tell(e)
	e.Kind, e.Result, e.At = runners.Returned, adapter.InnerJSON(c.Result), max(e.At, r.TimingInfo.ClientEndTime)
	var result struct {
		AgentID  string // of a subagent
		Rejected bool
	}
	_ = json.Unmarshal(e.Result, &result) // as far as it goes
	s.calls[result.AgentID] = c.ToolCallID
	if e.Status = adapter.Ends[c.Status]; result.Rejected || c.UserDecision == "rejected" {
		e.Status = runners.Rejected
	}
	if e.Status != "" {
		tell(e)
	}
}
