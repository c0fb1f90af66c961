package codex

import (
	"bytes"
	"encoding/json"

	"relay/runners/conversation"
	"relay/runners/internal/jsonline"
)

// spokenEvent is one line of the stream with what is told of the conversation.
type spokenEvent struct {
	Type     string      `json:"type"`
	ThreadID string      `json:"thread_id"` // thread.started
	Message  string      `json:"message"`   // error
	Error    eventError  `json:"error"`     // turn.failed
	Item     spokenItem  `json:"item"`
	Usage    *tokenUsage `json:"usage"` // turn.completed
}

// spokenItem is one step of the agent.
type spokenItem struct {
	turnItem
	Message  string `json:"message"`   // error
	ExitCode *int   `json:"exit_code"` // command_execution
	fields   map[string]json.RawMessage
}

// UnmarshalJSON reads an item, and keeps all of its fields.
func (i *spokenItem) UnmarshalJSON(raw []byte) error {
	type plain spokenItem
	_ = json.Unmarshal(raw, &i.fields)   // as far as it goes
	_ = json.Unmarshal(raw, (*plain)(i)) // the same
	return nil
}

// Conversation returns a reader of the stream of codex.
func Conversation() conversation.Reader { return speech{} }

// speech turns the stream into events of a conversation.
type speech struct{}

// Line implements [conversation.Reader].
func (s speech) Line(line []byte, tell func(conversation.Event)) bool {
	ev, fine := jsonline.Read[spokenEvent](line)
	if ev == nil {
		return fine
	}
	switch ev.Type {
	case "thread.started":
		tell(conversation.Event{Kind: conversation.Began, ID: ev.ThreadID})
	case "item.started", "item.updated", "item.completed":
		s.item(&ev.Item, ev.Type == "item.completed", tell)
	case "turn.completed":
		if ev.Usage != nil {
			u := ev.Usage.usage()
			tell(conversation.Event{Kind: conversation.Used, Usage: conversation.Usage{Input: u.InputTokens, Output: u.OutputTokens, SoFar: true}})
		}
	case "turn.failed":
		tell(conversation.Event{Kind: conversation.Said, Role: conversation.System, Text: ev.Error.Message})
	case "error":
		tell(conversation.Event{Kind: conversation.Said, Role: conversation.System, Text: ev.Message})
	}
	return true
}

func (speech) item(i *spokenItem, over bool, tell func(conversation.Event)) {
	e := conversation.Event{Kind: conversation.Said, ID: i.ID.String(), Local: true}
	switch i.Type.String() {
	case "", "reasoning":
	case "agent_message":
		if over {
			e.Role, e.Text = conversation.Assistant, i.Text.String()
			tell(e)
		}
	case "error":
		e.Role, e.Text = conversation.System, i.Message
		tell(e)
	default:
		e.Kind, e.Tool = conversation.Called, i.tool().String()
		e.Params, e.Result = i.parts()
		tell(e)
		if over {
			e.Kind, e.Status = conversation.Returned, i.status()
			tell(e)
		}
	}
}

// status returns what became of a step that has ended.
func (i *spokenItem) status() conversation.Status {
	switch {
	case i.Status.String() == "declined":
		return conversation.Rejected
	case i.failed(), i.ExitCode != nil && *i.ExitCode != 0:
		return conversation.Failed
	}
	return conversation.Completed
}

// parts splits an item into what was asked for and what came of it.
func (i *spokenItem) parts() (params, result json.RawMessage) {
	asked, came := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for name, value := range i.fields {
		switch name {
		case "id", "type", "status":
		case "aggregated_output", "exit_code", "result", "error":
			came[name] = value
		default:
			asked[name] = value
		}
	}
	if len(came) > 0 {
		result = object(came)
	}
	return object(asked), result
}

// object writes fields in the order of their names.
func object(fields map[string]json.RawMessage) json.RawMessage {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	_ = to.Encode(fields) // each value was read from JSON
	return bytes.TrimSpace(text.Bytes())
}
