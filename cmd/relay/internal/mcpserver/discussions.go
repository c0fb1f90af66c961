package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"relay/attempts/discussion"
	"relay/internal/plaintext"
)

// addDiscussions adds the five actions of the discussion ledger. They check their input themselves, by the schemas that are told here.
func (s *server) addDiscussions(m *mcp.Server) error {
	actions, err := discussion.Actions()
	if err != nil {
		return err
	}
	for _, a := range actions {
		closed, adds := false, false
		reads := a.Name == discussion.ActionOpen || a.Name == discussion.ActionReplay
		m.AddTool(&mcp.Tool{
			Name: a.Name, Description: a.Description, InputSchema: a.Input, OutputSchema: a.Output,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, IdempotentHint: reads, DestructiveHint: &adds, OpenWorldHint: &closed},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.do(ctx, func() *mcp.CallToolResult { return s.discuss(ctx, a.Name, argumentsOf(req)) })
		})
	}
	return nil
}

func (s *server) discuss(ctx context.Context, action string, input []byte) *mcp.CallToolResult {
	text, warnings, err := s.Discuss(ctx, action, input)
	if err != nil {
		return s.failed(err)
	}
	text = s.Redact(text)
	answer := json.RawMessage(text)
	note := ""
	if len(text) > MaxAnswer {
		answer, note = shortened(text)
	}
	r := s.said(string(answer), warnings, note)
	r.StructuredContent = answer
	return r
}

// shortened returns an answer without what makes it longer than MaxAnswer, and a note that says so.
func shortened(text string) (answer json.RawMessage, note string) {
	var open struct {
		Threads []discussion.Thread `json:"open_threads,omitempty"`
		ID      string              `json:"entry_id,omitempty"`
		Told    string              `json:"narrative,omitempty"`
	}
	_ = json.Unmarshal([]byte(text), &open) // relay has written it
	for share := 1.0; ; share *= 0.8 {
		kept := open
		kept.Told = plaintext.Head(open.Told, int(share*float64(len(open.Told))))
		kept.Threads = open.Threads[len(open.Threads)-int(share*float64(len(open.Threads))):] // the oldest stand first
		if answer, err := json.Marshal(kept); err != nil || len(answer) <= MaxAnswer {
			return answer, "This is not all. relay discuss open and relay discuss replay print the rest."
		}
	}
}

// argumentsOf returns the arguments of a call, as they came.
func argumentsOf(req *mcp.CallToolRequest) []byte {
	if len(req.Params.Arguments) == 0 {
		return []byte("{}")
	}
	return req.Params.Arguments
}
