package claude

import (
	"encoding/json"

	"relay/runners/internal/jsonscan"
)

// claudeEvent is one line of the stream; each kind of event uses some of the fields.
type claudeEvent struct {
	Type      jsonscan.String `json:"type"`
	Subtype   string          `json:"subtype"`
	SessionID string          `json:"session_id"`
	Model     string          `json:"model"`          // system/init
	Fallback  string          `json:"fallback_model"` // system/model_fallback
	Tool      string          `json:"tool_name"`      // system/permission_denied
	Status    string          `json:"status"`         // system/status: requesting
	Parent    *string         `json:"parent_tool_use_id"`
	Message   json.RawMessage `json:"message"`
	Part      claudePart      `json:"event"`          // stream_event
	PartOf    jsonscan.String `json:"api_message_id"` // the id of the message that it is a part of

	IsAPIError bool            `json:"is_api_error_message"`
	Error      json.RawMessage `json:"error"` // a word for it: authentication_failed, billing_error, overloaded, …

	Attempt      int     `json:"attempt"` // system/api_retry
	MaxRetries   int     `json:"max_retries"`
	RetryDelayMS float64 `json:"retry_delay_ms"`
	ErrorStatus  int     `json:"error_status"` // null when there was no answer at all

	RateLimit *claudeRateLimit `json:"rate_limit_info"`

	claudeResult
}

type claudeRateLimit struct {
	Status   string `json:"status"` // allowed, rejected
	ResetsAt int64  `json:"resetsAt"`
	Type     string `json:"rateLimitType"`
}

// claudeResult is the terminal event.
type claudeResult struct {
	IsError        bool                       `json:"is_error"`
	APIErrorStatus int                        `json:"api_error_status"`
	TerminalReason string                     `json:"terminal_reason"`
	StopReason     string                     `json:"stop_reason"`
	NumTurns       int                        `json:"num_turns"`
	Result         string                     `json:"result"`
	Errors         []string                   `json:"errors"`
	Structured     json.RawMessage            `json:"structured_output"`
	Denials        []claudeDenial             `json:"permission_denials"`
	CostUSD        *float64                   `json:"total_cost_usd"`
	Usage          *claudeUsage               `json:"usage"`
	ThisRun        map[string]claudeModelCost `json:"model_usage_since_last_result"`
}

type claudeDenial struct {
	Tool string `json:"tool_name"`
}

// claudeUsage counts a message's, or the run's, tokens.
type claudeUsage struct {
	Input       int64 `json:"input_tokens"`
	Output      int64 `json:"output_tokens"`
	CacheRead   int64 `json:"cache_read_input_tokens"`
	CacheCreate int64 `json:"cache_creation_input_tokens"`
}

type claudeModelCost struct {
	Input       int64   `json:"inputTokens"`
	Output      int64   `json:"outputTokens"`
	CacheRead   int64   `json:"cacheReadInputTokens"`
	CacheCreate int64   `json:"cacheCreationInputTokens"`
	CostUSD     float64 `json:"costUSD"`
}

// claudeMessage is what the agent said, or what its tools answered.
type claudeMessage struct {
	ID      jsonscan.String `json:"id"`
	Content json.RawMessage `json:"content"` // claudeBlocks, or the text of somebody else than the agent
	Usage   json.RawMessage `json:"usage"`   // claudeUsage

	blocks []claudeBlock // of Content
}

type claudeBlock struct {
	Type  jsonscan.String `json:"type"`
	ID    jsonscan.String `json:"id"`          // tool_use
	Ends  jsonscan.String `json:"tool_use_id"` // tool_result
	Text  jsonscan.String `json:"text"`
	Name  jsonscan.String `json:"name"`
	Input json.RawMessage `json:"input"`
}

// claudePart is a piece of a message that is still being written.
type claudePart struct {
	Type    jsonscan.String `json:"type"` // message_start, content_block_delta, message_delta, …
	Message claudeStart     `json:"message"`
	Delta   claudeDelta     `json:"delta"`
	Usage   json.RawMessage `json:"usage"` // message_delta: claudeUsage, what the message has come to
}

// claudeStart is a message that begins. Of its output tokens it has the first few.
type claudeStart struct {
	ID    jsonscan.String `json:"id"`
	Usage json.RawMessage `json:"usage"` // claudeUsage
}

// claudeDelta is a piece of what the model writes: one of the three.
type claudeDelta struct {
	Text     jsonscan.String `json:"text"`
	JSON     jsonscan.String `json:"partial_json"`
	Thinking jsonscan.String `json:"thinking"`
}

func (d *claudeDelta) chars() int { return len(d.Text) + len(d.JSON) + len(d.Thinking) }

// total counts everything the model read, from the cache or not.
func (u *claudeUsage) total() int64 { return u.Input + u.CacheRead + u.CacheCreate }
