package codex

import (
	"bytes"
	"encoding/json"

	"relay/epic/plaintext"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// Conversation returns a reader of the stream of codex.
func Conversation() runners.MessageReader { return adapter.Conversation[outputEvent](spoken) }

// spoken turns a line of the stream into events of a conversation.
func spoken(line []byte, ev *outputEvent, tell func(runners.Message)) {
	switch kind := ev.Type.String(); kind {
	case "thread.started":
		tell(runners.Message{Kind: runners.Began, ID: ev.ThreadID})
	case "item.started", "item.updated", "item.completed":
		spokenItem(line, &ev.Item, kind == "item.completed", tell)
	case "turn.completed":
		if ev.Usage != nil {
			u := ev.Usage.usage()
			tell(runners.Message{Kind: runners.Used, Usage: runners.MessageUsage{Input: u.InputTokens, Output: u.OutputTokens, SoFar: true}})
		}
	case "turn.failed":
		tell(runners.Message{Kind: runners.Said, Role: runners.System, Text: ev.Error.Message})
	case "error":
		tell(runners.Message{Kind: runners.Said, Role: runners.System, Text: ev.Message})
	}
}

func spokenItem(line []byte, i *turnItem, over bool, tell func(runners.Message)) {
	e := runners.Message{Kind: runners.Said, ID: i.ID.String(), Local: true}
	switch i.Type.String() {
	case "", "reasoning":
	case "agent_message":
		if over {
			e.Role, e.Text = runners.Assistant, i.Text.String()
			tell(e)
		}
	case "error":
		e.Role, e.Text = runners.System, i.Message
		tell(e)
	default:
		e.Kind, e.Tool = runners.Called, i.tool().String()
		e.Params, e.Result = parts(line)
		tell(e)
		if over {
			e.Kind, e.Status = runners.Returned, i.status()
			tell(e)
		}
	}
}

// status returns what became of a step that has ended.
func (i *turnItem) status() runners.ActionStatus {
	switch {
	case i.Status.String() == "declined":
		return runners.Rejected
	case i.failed(), i.ExitCode != 0:
		return runners.ActionFailed
	}
	return runners.ActionCompleted
}

// parts splits the item of a line into what was asked for and what came of it.
func parts(line []byte) (params, result json.RawMessage) {
	var all struct{ Item map[string]json.RawMessage }
	_ = json.Unmarshal(line, &all) // as far as it goes
	asked, came := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for name, value := range all.Item {
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
	_ = plaintext.WriteJSON(&text, fields, "") // each value was read from JSON
	return bytes.TrimSpace(text.Bytes())
}
