package gemini

import (
	"encoding/json"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// outputEvent is one line of the stream; each kind of event uses some of the fields.
type outputEvent struct {
	Type      adapter.JSONString `json:"type"`
	Time      string             `json:"timestamp"`
	SessionID string             `json:"session_id"` // init
	Model     string             `json:"model"`
	Role      adapter.JSONString `json:"role"` // message: user, assistant
	Content   adapter.JSONString `json:"content"`
	Delta     bool               `json:"delta"`     // it goes on with the message before
	Tool      adapter.JSONString `json:"tool_name"` // tool_use
	ToolID    adapter.JSONString `json:"tool_id"`   // and tool_result
	Input     json.RawMessage    `json:"parameters"`
	Severity  string             `json:"severity"` // error: warning, error
	Message   string             `json:"message"`
	Status    string             `json:"status"` // tool_result, result: success, error
	Error     *eventError        `json:"error"`
	Output    json.RawMessage    `json:"output"` // tool_result
	Stats     *runStats          `json:"stats"`  // result
}

// eventError is why a tool or the whole run failed. Its type is the class of an exception inside the CLI, or a word.
type eventError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// runStats count this run alone, also when it resumed a session. Output leaves out what the model thought, which
// is paid for like the rest and in Total.
type runStats struct {
	Total  int64               `json:"total_tokens"`
	Input  int64               `json:"input_tokens"` // with what was read from the cache
	Output int64               `json:"output_tokens"`
	Cached int64               `json:"cached"`
	Models map[string]runStats `json:"models"`
}

func (s *runStats) usage() runners.Usage {
	in := max(0, s.Input)
	return runners.Usage{InputTokens: in, CachedTokens: min(max(0, s.Cached), in), OutputTokens: max(0, s.Output, s.Total-in)}
}

// sessionRecord is one line of the file in which Gemini CLI keeps a session. An answer stands there again when its tools have ended.
type sessionRecord struct {
	ID     string       `json:"id"`
	Time   string       `json:"timestamp"`
	Type   string       `json:"type"` // user (a tool's answer, too), gemini
	Tokens *tokenCounts `json:"tokens"`
}

// tokenCounts are those of one answer. Total has what the model thought, too.
type tokenCounts struct {
	Input  int64 `json:"input"`
	Cached int64 `json:"cached"`
	Output int64 `json:"output"`
	Total  int64 `json:"total"`
}

func (t *tokenCounts) usage() runners.Usage {
	s := runStats{Total: t.Total, Input: t.Input, Output: t.Output, Cached: t.Cached}
	return s.usage()
}

// apiRefusal is what Google's API says when it refuses a request.
type apiRefusal struct {
	Error struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
		Status  string      `json:"status"` // UNAUTHENTICATED, FAILED_PRECONDITION, …
		Details []struct {
			Reason string `json:"reason"`
			Delay  string `json:"retryDelay"`
		} `json:"details"`
	} `json:"error"`
}
