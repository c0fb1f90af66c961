package claude

import (
	"encoding/json"

	"relay/runners/internal/adapter"
)

// outputEvent is one line of the stream; each kind of event uses some of the fields.
type outputEvent struct {
	Type      adapter.JSONString `json:"type"`
	Subtype   string             `json:"subtype"`
	SessionID string             `json:"session_id"`
	Model     string             `json:"model"`          // system/init
	Fallback  string             `json:"fallback_model"` // system/model_fallback
	Tool      adapter.JSONString `json:"tool_name"`      // system/permission_denied
	Status    string             `json:"status"`         // system/status: requesting; system/task_notification: completed, failed, stopped
	Parent    *string            `json:"parent_tool_use_id"`
	Message   json.RawMessage    `json:"message"`
	UUID      string             `json:"uuid"`
	Time      string             `json:"timestamp"`
	Calls     []callMeta         `json:"tool_result_meta"` // user
	Ran       toolOutcome        `json:"tool_use_result"`  // user
	Kept      toolOutcome        `json:"toolUseResult"`    // user, in the file of a session
	ToolID    string             `json:"tool_use_id"`      // system/permission_denied, task_started and task_notification
	TaskID    string             `json:"task_id"`          // of a background task
	Part      messagePart        `json:"event"`            // stream_event
	PartOf    adapter.JSONString `json:"api_message_id"`   // the id of the message that it is a part of

	IsAPIError bool            `json:"is_api_error_message"`
	Error      json.RawMessage `json:"error"` // a word for it: authentication_failed, billing_error, overloaded, …

	Attempt      int     `json:"attempt"` // system/api_retry
	MaxRetries   int     `json:"max_retries"`
	RetryDelayMS float64 `json:"retry_delay_ms"`
	ErrorStatus  int     `json:"error_status"` // null when there was no answer at all

	RateLimit *rateLimit `json:"rate_limit_info"`

	resultEvent
}

type callMeta struct {
	ID       string `json:"id"`
	Kind     string `json:"non_execution_kind"` // user-rejected, …
	Decision struct {
		Decision string `json:"decision"` // accept, reject
	} `json:"permission_decision"`
}

type rateLimit struct {
	Status   string `json:"status"` // allowed, rejected
	ResetsAt int64  `json:"resetsAt"`
}

// toolOutcome is what the CLI keeps of a call of its tool for subagents.
type toolOutcome struct {
	Async  bool   `json:"isAsync"` // the subagent works in the background
	Status string `json:"status"`  // completed; async_launched and remote_launched where it goes on in the background
	Agent  string `json:"agentId"`
}

// resultEvent is the terminal event.
type resultEvent struct {
	IsError        bool                 `json:"is_error"`
	APIErrorStatus int                  `json:"api_error_status"`
	TerminalReason string               `json:"terminal_reason"`
	StopReason     string               `json:"stop_reason"`
	Result         string               `json:"result"`
	Errors         []string             `json:"errors"`
	Structured     json.RawMessage      `json:"structured_output"`
	Denials        []adapter.ToolName   `json:"permission_denials"`
	CostUSD        *float64             `json:"total_cost_usd"`
	Usage          *tokenUsage          `json:"usage"`
	ThisRun        map[string]modelCost `json:"model_usage_since_last_result"`
	ModelUsage     map[string]struct {
		Window int64 `json:"contextWindow"`
	} `json:"modelUsage"`
}

// tokenUsage counts a message's, or the run's, tokens.
type tokenUsage struct {
	Input       int64 `json:"input_tokens"`
	Output      int64 `json:"output_tokens"`
	CacheRead   int64 `json:"cache_read_input_tokens"`
	CacheCreate int64 `json:"cache_creation_input_tokens"`
}

type modelCost struct {
	Input       int64   `json:"inputTokens"`
	Output      int64   `json:"outputTokens"`
	CacheRead   int64   `json:"cacheReadInputTokens"`
	CacheCreate int64   `json:"cacheCreationInputTokens"`
	CostUSD     float64 `json:"costUSD"`
}

// message is what the agent said, or what its tools answered.
type message struct {
	ID      adapter.JSONString `json:"id"`
	Model   string             `json:"model"`
	Content json.RawMessage    `json:"content"` // contentBlocks, or a text
	Usage   json.RawMessage    `json:"usage"`   // tokenUsage

	blocks []contentBlock // of Content
}

type contentBlock struct {
	Type  adapter.JSONString `json:"type"`
	ID    adapter.JSONString `json:"id"`          // tool_use
	Ends  adapter.JSONString `json:"tool_use_id"` // tool_result
	Text  adapter.JSONString `json:"text"`
	Name  adapter.JSONString `json:"name"`
	Input json.RawMessage    `json:"input"`

	Content json.RawMessage `json:"content"` // tool_result
	Failed  bool            `json:"is_error"`
}

// messagePart is a piece of a message that is still being written.
type messagePart struct {
	Type    adapter.JSONString `json:"type"` // message_start, content_block_delta, message_delta, …
	Message messageStart       `json:"message"`
	Delta   contentDelta       `json:"delta"`
	Usage   json.RawMessage    `json:"usage"` // message_delta: tokenUsage, what the message has come to
}

// messageStart is a message that begins. Of its output tokens it has the first few.
type messageStart struct {
	ID    adapter.JSONString `json:"id"`
	Usage json.RawMessage    `json:"usage"` // tokenUsage
}

// contentDelta is a piece of what the model writes: one of the three.
type contentDelta struct {
	Text     adapter.JSONString `json:"text"`
	JSON     adapter.JSONString `json:"partial_json"`
	Thinking adapter.JSONString `json:"thinking"`
}

// message decodes the message of an event, as far as it goes: see adapter.ReadJSON.
func (ev *outputEvent) message() message {
	var m message
	_ = json.Unmarshal(ev.Message, &m)
	_ = json.Unmarshal(m.Content, &m.blocks)
	return m
}

func (d *contentDelta) chars() int { return len(d.Text) + len(d.JSON) + len(d.Thinking) }

// total counts everything the model read, from the cache or not.
func (u *tokenUsage) total() int64 { return u.Input + u.CacheRead + u.CacheCreate }
