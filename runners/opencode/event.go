package opencode

import (
	"encoding/json"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// outputEvent is one line of the stream; each kind of event uses some of the fields.
type outputEvent struct {
	Type      adapter.JSONString `json:"type"`      // step_start, text, tool_use, step_finish, error, reasoning
	Timestamp int64              `json:"timestamp"` // milliseconds since 1970
	SessionID adapter.JSONString `json:"sessionID"`
	Part      messagePart        `json:"part"`
	Error     *eventFault        `json:"error"`
}

type messagePart struct {
	Text      adapter.JSONString `json:"text"`
	Synthetic bool               `json:"synthetic"` // text: said by opencode itself, in the user's name
	MessageID string             `json:"messageID"`
	Time      span               `json:"time"`
	CallID    string             `json:"callID"`
	Tool      adapter.JSONString `json:"tool"`
	State     toolState          `json:"state"`
	Reason    adapter.JSONString `json:"reason"` // step_finish: stop, tool-calls, length, content-filter, …
	Tokens    tokenUsage         `json:"tokens"`
	Cost      float64            `json:"cost"` // USD; 0 when opencode has no price for the model
}

// toolState is a tool's call, told once it is over.
type toolState struct {
	Status adapter.JSONString `json:"status"` // completed, error
	Input  json.RawMessage    `json:"input"`
	Title  adapter.JSONString `json:"title"`
	Error  adapter.JSONString `json:"error"`
	Output json.RawMessage    `json:"output"`
	Time   span               `json:"time"`
}

// span is when something began and ended, in milliseconds since 1970.
type span struct {
	Start int64 `json:"start"`
	End   int64 `json:"end"`
}

// tokenUsage of one step. Input is without what came from the cache or went there, output without reasoning.
type tokenUsage struct {
	Input     int64       `json:"input"`
	Output    int64       `json:"output"`
	Reasoning int64       `json:"reasoning"`
	Cache     cacheTokens `json:"cache"`
}

type cacheTokens struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// usage counts what a step has read and written.
func (t *tokenUsage) usage() runners.Usage {
	read, write := max(0, t.Cache.Read), max(0, t.Cache.Write)
	return runners.Usage{
		InputTokens: max(0, t.Input) + read + write, CachedTokens: read, CacheWrites: write, OutputTokens: max(0, t.Output) + max(0, t.Reasoning),
	}
}

// eventFault is an error that ended the session, or at least its last request.
type eventFault struct {
	Name string `json:"name"` // APIError, ContextOverflowError, ContentFilterError, ProviderAuthError, UnknownError, …
	Data struct {
		Message    string            `json:"message"`
		StatusCode int               `json:"statusCode"` // APIError; 0: there was no answer at all
		Headers    map[string]string `json:"responseHeaders"`
		Body       string            `json:"responseBody"`
	} `json:"data"`
}

// errorBody is what providers put into the body of an error: OpenAI's and Anthropic's form.
type errorBody struct {
	Error providerError `json:"error"`
	providerError
}

type providerError struct {
	Type     string          `json:"type"`
	Code     json.RawMessage `json:"code"` // a word, or a status
	Message  string          `json:"message"`
	ResetsAt int64           `json:"resets_at"` // seconds since 1970
}
