package opencode

import (
	"encoding/json"

	"relay/runners/internal/jsonscan"
)

// opencodeEvent is one line of the stream; each kind of event uses some of the fields.
type opencodeEvent struct {
	Type      jsonscan.String `json:"type"`      // step_start, text, tool_use, step_finish, error, reasoning
	Timestamp int64           `json:"timestamp"` // milliseconds since 1970
	SessionID jsonscan.String `json:"sessionID"`
	Part      opencodePart    `json:"part"`
	Error     *opencodeFault  `json:"error"`
}

type opencodePart struct {
	Text      jsonscan.String `json:"text"`
	Synthetic bool            `json:"synthetic"` // text: said by opencode itself, in the user's name
	Tool      jsonscan.String `json:"tool"`
	State     opencodeState   `json:"state"`
	Reason    jsonscan.String `json:"reason"` // step_finish: stop, tool-calls, length, content-filter, …
	Tokens    opencodeTokens  `json:"tokens"`
	Cost      float64         `json:"cost"` // USD; 0 when opencode has no price for the model
}

// opencodeState is a tool's call, told once it is over.
type opencodeState struct {
	Status jsonscan.String `json:"status"` // completed, error
	Input  json.RawMessage `json:"input"`
	Title  jsonscan.String `json:"title"`
	Error  jsonscan.String `json:"error"`
}

// opencodeTokens of one step. Input is without what came from the cache or went there, output without reasoning.
type opencodeTokens struct {
	Input     int64         `json:"input"`
	Output    int64         `json:"output"`
	Reasoning int64         `json:"reasoning"`
	Cache     opencodeCache `json:"cache"`
}

type opencodeCache struct {
	Read  int64 `json:"read"`
	Write int64 `json:"write"`
}

// opencodeFault is an error that ended the session, or at least its last request.
type opencodeFault struct {
	Name string `json:"name"` // APIError, ContextOverflowError, ContentFilterError, ProviderAuthError, UnknownError, …
	Data struct {
		Message    string            `json:"message"`
		StatusCode int               `json:"statusCode"` // APIError; 0: there was no answer at all
		Headers    map[string]string `json:"responseHeaders"`
		Body       string            `json:"responseBody"`
	} `json:"data"`
}

// opencodeBody is what providers put into the body of an error: OpenAI's and Anthropic's form.
type opencodeBody struct {
	Error opencodeProblem `json:"error"`
	opencodeProblem
}

type opencodeProblem struct {
	Type     string          `json:"type"`
	Code     json.RawMessage `json:"code"` // a word, or a status
	Message  string          `json:"message"`
	ResetsAt int64           `json:"resets_at"` // seconds since 1970
}
