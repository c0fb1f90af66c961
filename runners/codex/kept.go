package codex

import (
	"bytes"
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// record reads a line of the session's file, which says of each answer what it has used.
func record(agent *adapter.Stream, line []byte) {
	r, _ := adapter.ReadJSON[ownLine](line)
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
		at, _ := time.Parse(time.RFC3339, r.Timestamp)
		agent.Asked.AskAt(at)
	}
}
