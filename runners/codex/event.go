package codex

import (
	"relay/runners"
	"relay/runners/internal/adapter"
)

// outputEvent is one line of the stream; each kind of event uses some of the fields.
type outputEvent struct {
	Type     adapter.JSONString `json:"type"`
	ThreadID string             `json:"thread_id"` // thread.started
	Message  string             `json:"message"`   // error: it need not be the end
	Error    eventError         `json:"error"`     // turn.failed
	Item     turnItem           `json:"item"`      // item.started, item.updated, item.completed
	Usage    *tokenUsage        `json:"usage"`     // turn.completed
}

type eventError struct {
	Message string `json:"message"`
}

// turnItem is one step of the agent.
type turnItem struct {
	ID      adapter.JSONString `json:"id"`
	Type    adapter.JSONString `json:"type"`   // agent_message, command_execution, file_change, …; error: said by the CLI
	Status  adapter.JSONString `json:"status"` // in_progress, completed, failed
	Text    adapter.JSONString `json:"text"`
	Command adapter.JSONString `json:"command"`
	Changes []fileChange       `json:"changes"`
	Server  adapter.JSONString `json:"server"` // mcp_tool_call
	Tool    adapter.JSONString `json:"tool"`
	Query   adapter.JSONString `json:"query"` // web_search

	Message  string `json:"message"`   // error
	ExitCode int    `json:"exit_code"` // command_execution
}

type fileChange struct {
	Path string `json:"path"`
}

// tokenUsage counts the tokens of the whole session, also of its earlier runs.
type tokenUsage struct {
	Input  int64 `json:"input_tokens"`
	Cached int64 `json:"cached_input_tokens"` // part of Input
	Output int64 `json:"output_tokens"`
}

func (u *tokenUsage) usage() runners.Usage {
	return runners.Usage{InputTokens: max(0, u.Input), CachedTokens: max(0, u.Cached), OutputTokens: max(0, u.Output)}
}

// failed reports whether a step that has ended did so in vain.
func (i *turnItem) failed() bool { return i.Status.String() == "failed" }

// tool returns what the step's tool is called, one of an MCP server as in mcp__SERVER__TOOL.
func (i *turnItem) tool() adapter.JSONString {
	if i.Type.String() != "mcp_tool_call" || i.Tool.Empty() || i.Server.Empty() {
		return i.Type
	}
	name := append(adapter.JSONString(`"mcp__`), i.Server[1:len(i.Server)-1]...)
	return append(append(name, "__"...), i.Tool[1:]...)
}

// note returns what a person wants to see of a step.
func (i *turnItem) note() adapter.Action {
	n := adapter.Action{Kind: runners.EventTool, Name: i.Type}
	switch {
	case !i.Command.Empty():
		n.Text = i.Command
	case len(i.Changes) > 0:
		n.Plain = i.Changes[0].Path
	case !i.Tool.Empty():
		n.Plain = i.Server.Head(adapter.EventHead) + " " + i.Tool.Head(adapter.EventHead)
	default:
		n.Text = i.Query
	}
	return n
}
