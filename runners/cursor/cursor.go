// Package cursor reads the sessions that Cursor, an editor, keeps in its database. relay does not run Cursor.
package cursor

import (
	"bytes"
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
			folder := adapter.InHome(env, ".config", "Cursor")
			switch runtime.GOOS {
			case "darwin":
				folder = adapter.InHome(env, "Library", "Application Support", "Cursor")
			case "windows":
				folder = filepath.Join(adapter.Variable(env, "APPDATA"), "Cursor")
			}
			return filepath.Join(folder, "User", "globalStorage")
		},
		Names:  []string{"state.vscdb"},
		Reader: func(string, string) runners.MessageReader { return &speech{calls: map[string]string{}} },
	}
}

// composer is a session. Earlier versions keep its messages in it.
type composer struct {
	ID        string            `json:"composerId"`
	CreatedAt int64             `json:"createdAt"`
	Mode      string            `json:"unifiedMode"`
	ForceMode string            `json:"forceMode"`
	Agentic   *bool             `json:"isAgentic"`
	Limit     int64             `json:"contextTokenLimit"`
	Used      int64             `json:"contextTokensUsed"`
	Context   json.RawMessage   `json:"context"`
	State     string            `json:"conversationState"`
	Messages  []json.RawMessage `json:"conversation"`
	Model     struct {
		Name string `json:"modelName"`
	} `json:"modelConfig"`
	Workspace struct {
		URI struct {
			Path string `json:"fsPath"`
		} `json:"uri"`
	} `json:"workspaceIdentifier"`
	Summary struct {
		Summary json.RawMessage `json:"summary"` // a string, or an object with one
	} `json:"latestConversationSummary"`
}

// bubble is a message, or a tool call of one.
type bubble struct {
	ID         string             `json:"bubbleId"`
	Type       int                `json:"type"` // 1: the user's
	Text       adapter.JSONString `json:"text"`
	RawText    adapter.JSONString `json:"rawText"`
	CreatedAt  json.RawMessage    `json:"createdAt"` // a string, or milliseconds
	Checkpoint string             `json:"checkpointId"`
	After      string             `json:"afterCheckpointId"`
	PlanStep   bool               `json:"isPlanExecution"`
	Context    json.RawMessage    `json:"context"`
	Rules      json.RawMessage    `json:"cursorRules"`
	Times      struct {
		Start int64 `json:"clientStartTime"`
		End   int64 `json:"clientEndTime"`
	} `json:"timingInfo"`
	Tokens struct {
		Input  int64 `json:"inputTokens"`
		Output int64 `json:"outputTokens"`
	} `json:"tokenCount"`
	Model struct {
		Name string `json:"modelName"`
	} `json:"modelInfo"`
	Call *call `json:"toolFormerData"`
}

// call is a tool call with its result.
type call struct {
	ID       string             `json:"toolCallId"`
	Name     adapter.JSONString `json:"name"`
	Status   string             `json:"status"` // completed, cancelled, error, …
	Params   adapter.JSONString `json:"params"` // JSON in a string
	Args     adapter.JSONString `json:"rawArgs"`
	Result   adapter.JSONString `json:"result"`
	Decision string             `json:"userDecision"` // accepted, rejected
}

// speech turns a session and its messages, each a line of JSON, into events of a conversation. Sessions of subagents follow it.
type speech struct {
	session string
	subtask string            // the call that began the session of the lines now; "": it is the first
	calls   map[string]string // that began subagents
	model   string
	at      int64 // time of the last message
}

// Line implements [runners.MessageReader].
func (s *speech) Line(line []byte, tell func(runners.Message)) bool {
	c, torn := adapter.ReadJSON[composer](line)
	switch {
	case c == nil:
		return !torn && len(bytes.TrimSpace(line)) == 0
	case c.ID != "":
		s.composer(c, tell)
		for _, m := range c.Messages {
			s.bubble(m, tell)
		}
	case s.session != "":
		s.bubble(line, tell)
	}
	return true
}

func (s *speech) composer(c *composer, tell func(runners.Message)) {
	s.model, s.at = c.Model.Name, max(0, c.CreatedAt)
	if s.session != "" {
		s.subtask = cmp.Or(s.calls[c.ID], c.ID)
		return
	}
	s.session = c.ID
	facts := runners.EditorFacts{Mode: cmp.Or(c.ForceMode, c.Mode), Chat: c.Agentic != nil && !*c.Agentic, Context: c.Context, State: c.State}
	var inner struct{ Summary adapter.JSONString }
	_ = json.Unmarshal(c.Summary.Summary, &inner) // a string has none
	facts.Summary = cmp.Or(inner.Summary.String(), adapter.JSONString(c.Summary.Summary).String())
	tell(runners.Message{Kind: runners.Began, ID: c.ID, Dir: c.Workspace.URI.Path, Model: s.model, At: s.at, Editor: &facts})
	tell(runners.Message{Kind: runners.Used, Usage: runners.MessageUsage{Context: max(0, c.Used), ContextLimit: max(0, c.Limit)}})
}

func (s *speech) bubble(line []byte, tell func(runners.Message)) {
	b, _ := adapter.ReadJSON[bubble](line)
	if b == nil || b.ID == "" {
		return
	}
	var ms int64
	_ = json.Unmarshal(b.CreatedAt, &ms) // or it is a string
	s.at = max(0, cmp.Or(runners.Millis(adapter.JSONString(b.CreatedAt).String()), ms, b.Times.Start, s.at))
	e := runners.Message{Kind: runners.Said, ID: b.ID, Subtask: s.subtask, At: s.at, Role: runners.Assistant, Model: cmp.Or(b.Model.Name, s.model)}
	if b.Type == 1 {
		e.Role, e.Model = runners.User, ""
	}
	e.Text = cmp.Or(b.Text.String(), b.RawText.String())
	e.Editor = &runners.EditorFacts{Checkpoint: cmp.Or(b.Checkpoint, b.After), PlanStep: b.PlanStep, Context: b.Context, Rules: b.Rules}
	_ = json.Unmarshal(line, &e.Editor.More) // it was read before
	delete(e.Editor.More, "text")
	delete(e.Editor.More, "richText")
	tell(e)
	if b.Call != nil && b.Call.ID != "" {
		s.call(e, b, tell)
	}
	if input, output := max(0, b.Tokens.Input), max(0, b.Tokens.Output); input+output > 0 {
		tell(runners.Message{Kind: runners.Used, Subtask: s.subtask, ID: b.ID, Usage: runners.MessageUsage{Input: input, Output: output}})
	}
}

func (s *speech) call(e runners.Message, b *bubble, tell func(runners.Message)) {
	c := b.Call
	e.Kind, e.ID, e.Message, e.Editor, e.Tool = runners.Called, c.ID, b.ID, nil, c.Name.String()
	e.Params = inner(cmp.Or(c.Params.String(), c.Args.String()))
	tell(e)
	var began struct {
		Agent string `json:"agentId"`
	}
	e.Kind, e.Result = runners.Returned, inner(c.Result.String())
	if json.Unmarshal(e.Result, &began) == nil && began.Agent != "" {
		s.calls[began.Agent] = c.ID
	}
	var r struct {
		Rejected bool `json:"rejected"`
	}
	_ = json.Unmarshal(e.Result, &r) // most have none
	switch {
	case r.Rejected, c.Decision == "rejected":
		e.Status = runners.Rejected
	case c.Status == "completed", c.Status == "success":
		e.Status = runners.ActionCompleted
	case c.Status == "cancelled":
		e.Status = runners.ActionCancelled
	case c.Status == "error", c.Status == "failed":
		e.Status = runners.ActionFailed
	default:
		return // it is not over
	}
	e.At = max(e.At, b.Times.End)
	tell(e)
}

// inner returns the JSON in a string, or the string as JSON.
func inner(text string) json.RawMessage {
	if text == "" || json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return adapter.RawJSON(text)
}
