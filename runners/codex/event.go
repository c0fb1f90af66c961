package codex

import (
	"encoding/json"

	"relay/runners"
	"relay/runners/internal/eventstream"
	"relay/runners/internal/jsonscan"
)

// codexEvent is one line of the stream; each kind of event uses some of the fields.
type codexEvent struct {
	Type     jsonscan.String `json:"type"`
	ThreadID string          `json:"thread_id"` // thread.started
	Message  string          `json:"message"`   // error: it need not be the end
	Error    codexError      `json:"error"`     // turn.failed
	Item     codexItem       `json:"item"`      // item.started, item.updated, item.completed
	Usage    *codexUsage     `json:"usage"`     // turn.completed
}

type codexError struct {
	Message string `json:"message"`
}

// codexItem is one step of the agent.
type codexItem struct {
	ID      jsonscan.String `json:"id"`
	Type    jsonscan.String `json:"type"`   // agent_message, command_execution, file_change, …; error: said by the CLI
	Status  jsonscan.String `json:"status"` // in_progress, completed, failed
	Text    jsonscan.String `json:"text"`
	Command jsonscan.String `json:"command"`
	Changes []codexChange   `json:"changes"`
	Server  jsonscan.String `json:"server"` // mcp_tool_call
	Tool    jsonscan.String `json:"tool"`
	Query   jsonscan.String `json:"query"` // web_search

	changes json.RawMessage // not decoded yet
}

type codexChange struct {
	Path string `json:"path"`
}

// codexUsage counts the tokens of the whole session, also of its earlier runs.
type codexUsage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"` // part of Input
	Output int64 `json:"output_tokens"`
}

// codexRecord is one line of the file in which codex keeps a session.
type codexRecord struct {
	Time    string `json:"timestamp"`
	Type    string `json:"type"`
	Payload struct {
		Type  string      `json:"type"`
		Role  string      `json:"role"`
		Model string      `json:"model"` // turn_context
		Usage *codexUsage `json:"usage"` // token_usage_record: of one answer
		Info  struct {
			Total *codexUsage `json:"total_token_usage"` // token_count: of the session so far
		} `json:"info"`
	} `json:"payload"`
}

func (u *codexUsage) usage() runners.Usage {
	return runners.Usage{InputTokens: max(0, u.Input), CachedTokens: max(0, u.Cached), OutputTokens: max(0, u.Output)}
}

// note is what a person wants to see of a step.
func (i *codexItem) note() eventstream.Action {
	n := eventstream.Action{Kind: runners.EventTool, Name: i.Type}
	if !i.Command.Empty() {
		n.Text = i.Command
		return n
	}
	changes := i.Changes
	if len(i.changes) > len("[]") {
		var read []codexChange
		_ = json.Unmarshal(i.changes, &read) // as far as it goes: see decode
		changes = read
	}
	switch {
	case len(changes) > 0:
		n.Plain = changes[0].Path
	case !i.Tool.Empty():
		n.Plain = i.Server.Head(eventstream.EventHead) + " " + i.Tool.Head(eventstream.EventHead)
	default:
		n.Text = i.Query
	}
	return n
}
