package codex

import (
	"bytes"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// keptRecord is one line of a file in which codex keeps a session, below ~/.codex/sessions, as far as limits and usage are read from it.
type keptRecord struct {
	Time    string `json:"timestamp"`
	Type    string `json:"type"` // turn_context, response_item, event_msg, token_usage_record
	Payload struct {
		Type  string      `json:"type"`  // response_item: message, function_call_output, …; event_msg: token_count
		Model string      `json:"model"` // turn_context
		Role  string      `json:"role"`
		Usage *tokenUsage `json:"usage"` // token_usage_record: of one answer
		Info  struct {
			Total *tokenUsage `json:"total_token_usage"` // of the session so far
		} `json:"info"`
	} `json:"payload"`
}

// record reads a line of the session's file, which says of each answer what it has used.
func record(agent *adapter.Stream, line []byte) {
	r, _ := adapter.ReadJSON[keptRecord](line)
	if r == nil {
		return
	}
	switch kind := r.Payload.Type; {
	case r.Type == "turn_context":
		agent.Model = runners.OneLine(r.Payload.Model, runners.MaxName)
	case r.Type == "token_usage_record" && r.Payload.Usage != nil:
		agent.Asked.Report(r.Payload.Usage.usage())
	case kind == "token_count" && r.Payload.Info.Total != nil:
		agent.Asked.Reported = agent.Asked.Reported.AtLeast(r.Payload.Info.Total.usage())
		agent.Asked.AnyReported = true
	case bytes.Contains(line, []byte("aborted by user")), bytes.Contains(line, []byte("<turn_aborted>")): // the model is not asked after that
	case strings.HasSuffix(kind, "_call_output"), kind == "message" && r.Payload.Role == "user":
		at, _ := time.Parse(time.RFC3339, r.Time)
		agent.Asked.AskAt(at)
	}
}
