package runners

// codexEvent is one line of the stream; each kind of event uses some of the fields.
type codexEvent struct {
	Type     string      `json:"type"`
	ThreadID string      `json:"thread_id"` // thread.started
	Message  string      `json:"message"`   // error: it need not be the end
	Error    codexError  `json:"error"`     // turn.failed
	Item     codexItem   `json:"item"`      // item.started, item.updated, item.completed
	Usage    *codexUsage `json:"usage"`     // turn.completed
}

type codexError struct {
	Message string `json:"message"`
}

// codexItem is one step of the agent.
type codexItem struct {
	ID      string        `json:"id"`
	Type    string        `json:"type"`   // agent_message, command_execution, file_change, …; error: said by the CLI
	Status  string        `json:"status"` // in_progress, completed, failed
	Text    string        `json:"text"`
	Command string        `json:"command"`
	Changes []codexChange `json:"changes"`
	Server  string        `json:"server"` // mcp_tool_call
	Tool    string        `json:"tool"`
	Query   string        `json:"query"` // web_search
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

// argument is what a person wants to see of a step.
func (i codexItem) argument() string {
	switch {
	case i.Command != "":
		return i.Command
	case len(i.Changes) > 0:
		return i.Changes[0].Path
	case i.Tool != "":
		return i.Server + " " + i.Tool
	}
	return i.Query
}
