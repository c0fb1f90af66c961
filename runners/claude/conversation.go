package claude

import (
	"encoding/json"

	"relay/runners/conversation"
	"relay/runners/internal/jsonline"
)

// spokenEvent is one line of the stream with what is told of the conversation.
type spokenEvent struct {
	outputEvent
	UUID       string                   `json:"uuid"`
	Time       string                   `json:"timestamp"`
	Calls      []callMeta               `json:"tool_result_meta"` // user
	ToolID     string                   `json:"tool_use_id"`      // system/permission_denied
	ModelUsage map[string]contextWindow `json:"modelUsage"`       // result
}

type callMeta struct {
	ID       string `json:"id"`
	Kind     string `json:"non_execution_kind"` // user-rejected, …
	Decision struct {
		Decision string `json:"decision"` // accept, reject
	} `json:"permission_decision"`
}

func (m callMeta) rejected() bool {
	return m.Kind == "user-rejected" || m.Decision.Decision == "reject"
}

type contextWindow struct {
	Tokens int64 `json:"contextWindow"`
}

// spokenMessage is a message with what nothing else needs of it.
type spokenMessage struct {
	ID      string          `json:"id"`
	Model   string          `json:"model"`
	Content json.RawMessage `json:"content"` // spokenBlocks, or a text
	Usage   json.RawMessage `json:"usage"`
}

type spokenBlock struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"` // tool_use
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Text    string          `json:"text"`
	Ends    string          `json:"tool_use_id"` // tool_result
	Content json.RawMessage `json:"content"`
	Failed  bool            `json:"is_error"`
}

// Conversation returns a reader of the stream of Claude Code.
func Conversation() conversation.Reader { return &speech{} }

// speech turns the stream into events of a conversation.
type speech struct {
	denied map[string]bool // ids of calls that were not allowed, and are to be told
}

// ownModel stands in the place of the model where the CLI itself speaks in the agent's name.
const ownModel = "<synthetic>"

// maxDenied is more than any message has.
const maxDenied = 1000

// Line implements [conversation.Reader].
func (s *speech) Line(line []byte, tell func(conversation.Event)) bool {
	return jsonline.Each(line, func(ev *spokenEvent) { s.event(ev, tell) })
}

func (s *speech) event(ev *spokenEvent, tell func(conversation.Event)) {
	e := conversation.Event{At: conversation.Millis(ev.Time)}
	if ev.Parent != nil {
		e.Subtask = *ev.Parent
	}
	switch ev.Type.String() {
	case "system":
		s.system(ev, tell)
	case "assistant", "user":
		var m spokenMessage
		_ = json.Unmarshal(ev.Message, &m) // as far as it goes: see decode
		if ev.Type.String() == "assistant" {
			s.assistant(e, &m, tell)
		} else {
			s.user(e, ev, &m, tell)
		}
	case streamEventType:
		if ev.Part.Type.String() == "message_delta" && !ev.PartOf.Empty() && !none(ev.Part.Usage) {
			tell(conversation.Event{Kind: conversation.Used, ID: ev.PartOf.String(), Usage: usedBy(ev.Part.Usage)})
		}
	case "result":
		e.Kind, e.Usage = conversation.Used, ev.used()
		tell(e)
	}
}

func (s *speech) system(ev *spokenEvent, tell func(conversation.Event)) {
	switch ev.Subtype {
	case "init":
		tell(conversation.Event{Kind: conversation.Began, ID: ev.SessionID, Model: ev.Model})
	case "permission_denied":
		if s.denied == nil {
			s.denied = map[string]bool{}
		}
		if len(s.denied) < maxDenied {
			s.denied[ev.ToolID] = true
		}
	}
}

func (s *speech) assistant(e conversation.Event, m *spokenMessage, tell func(conversation.Event)) {
	said := e
	said.Kind, said.ID, said.Role = conversation.Said, m.ID, conversation.Assistant
	if m.Model != ownModel {
		said.Model = m.Model
	}
	blocks, text := blocksOf(m.Content)
	if said.Text = text; len(blocks) == 0 {
		tell(said)
	}
	for i := range blocks {
		b := &blocks[i]
		if said.Text = ""; b.Type == "text" {
			said.Text = b.Text
		}
		tell(said)
		if b.Type == "tool_use" {
			call := e
			call.Kind, call.ID, call.Message, call.Tool, call.Params = conversation.Called, b.ID, m.ID, b.Name, b.Input
			tell(call)
		}
	}
	if !none(m.Usage) {
		used := e
		used.Kind, used.ID, used.Usage = conversation.Used, m.ID, usedBy(m.Usage)
		tell(used)
	}
}

// user tells the results of tools, and what is said in the user's name.
func (s *speech) user(e conversation.Event, ev *spokenEvent, m *spokenMessage, tell func(conversation.Event)) {
	blocks, text := blocksOf(m.Content)
	said := e
	said.Kind, said.ID, said.Role = conversation.Said, ev.UUID, conversation.User
	if said.Text = text; text != "" {
		tell(said)
	}
	for i := range blocks {
		switch b := &blocks[i]; b.Type {
		case "text":
			said.Text = b.Text
			tell(said)
		case "tool_result":
			over := e
			over.Kind, over.ID, over.Result, over.Status = conversation.Returned, b.Ends, b.Content, s.status(ev, b)
			tell(over)
		}
	}
}

// status returns what became of a call.
func (s *speech) status(ev *spokenEvent, b *spokenBlock) conversation.Status {
	if !b.Failed {
		return conversation.Completed
	}
	rejected := s.denied[b.Ends]
	delete(s.denied, b.Ends)
	for _, m := range ev.Calls {
		rejected = rejected || m.ID == b.Ends && m.rejected()
	}
	if rejected {
		return conversation.Rejected
	}
	return conversation.Failed
}

// blocksOf reads what a message holds: blocks, or a text.
func blocksOf(content json.RawMessage) (blocks []spokenBlock, text string) {
	if len(content) > 0 && content[0] == '"' {
		_ = json.Unmarshal(content, &text) // as far as it goes: see decode
		return nil, text
	}
	_ = json.Unmarshal(content, &blocks) // the same
	return blocks, ""
}

// usedBy is what a message has used. What the next request reads again is what this one has read and written.
func usedBy(raw json.RawMessage) conversation.Usage {
	u := usageOfClaude(raw)
	in, out := max(0, u.InputTokens), max(0, u.OutputTokens)
	return conversation.Usage{Input: in, Output: out, Context: in + out}
}

// used is what a run has used by its result.
func (ev *spokenEvent) used() (u conversation.Usage) {
	if ev.Usage != nil {
		u.Input, u.Output = max(0, ev.Usage.total()), max(0, ev.Usage.Output)
	}
	switch {
	case ev.ThisRun != nil:
		for _, m := range ev.ThisRun {
			u.CostUSD += m.CostUSD
		}
	case ev.CostUSD != nil:
		u.CostUSD = *ev.CostUSD
	}
	for _, m := range ev.ModelUsage {
		u.ContextLimit = max(u.ContextLimit, m.Tokens)
	}
	return u
}
