package codex

import (
	"encoding/json"
	"strings"

	"relay/runners/conversation"
	"relay/runners/internal/jsonline"
)

// keptRecord is one line of a file in which codex keeps a session, below ~/.codex/sessions.
type keptRecord struct {
	Time    string      `json:"timestamp"`
	Type    string      `json:"type"` // session_meta, turn_context, response_item, event_msg, token_usage_record
	Payload keptPayload `json:"payload"`
}

type keptPayload struct {
	Type    string          `json:"type"` // response_item: message, function_call, function_call_output, …; event_msg: token_count
	ID      string          `json:"id"`   // session_meta
	Dir     string          `json:"cwd"`
	Model   string          `json:"model"` // turn_context
	Role    string          `json:"role"`
	Content []keptContent   `json:"content"`
	Name    string          `json:"name"` // of the tool
	CallID  string          `json:"call_id"`
	Args    string          `json:"arguments"` // JSON
	Input   string          `json:"input"`     // custom_tool_call
	Action  json.RawMessage `json:"action"`    // local_shell_call, web_search_call
	Output  json.RawMessage `json:"output"`    // a text, or an object
	Usage   *tokenUsage     `json:"usage"`     // token_usage_record: of one answer
	Info    struct {
		Total  *tokenUsage `json:"total_token_usage"` // of the session so far
		Window int64       `json:"model_context_window"`
	} `json:"info"`
}

type keptContent struct {
	Type string `json:"type"` // input_text, output_text
	Text string `json:"text"`
}

// Kept returns a reader of the files in which codex keeps its sessions.
func Kept() conversation.Reader { return jsonline.Conversation[keptRecord]((&keptSpeech{}).record) }

// keptSpeech turns such a file into events of a conversation.
type keptSpeech struct {
	session string
	model   string
}

func (s *keptSpeech) record(_ []byte, r *keptRecord, tell func(conversation.Event)) {
	p := &r.Payload
	e := conversation.Event{At: conversation.Millis(r.Time), Model: s.model}
	switch r.Type {
	case "session_meta":
		if p.ID != "" && s.session == "" {
			s.session = p.ID
			e.Kind, e.ID, e.Dir = conversation.Began, p.ID, p.Dir
			tell(e)
		}
	case "turn_context":
		s.model = p.Model
	case "response_item":
		s.item(e, p, tell)
	case "event_msg":
		if p.Type == "token_count" && p.Info.Total != nil {
			u := p.Info.Total.usage()
			e.Kind = conversation.Used
			e.Usage = conversation.Usage{Input: u.InputTokens, Output: u.OutputTokens, SoFar: true, ContextLimit: p.Info.Window}
			tell(e)
		}
	}
}

func (s *keptSpeech) item(e conversation.Event, p *keptPayload, tell func(conversation.Event)) {
	switch {
	case p.Type == "message":
		e.Kind, e.Role = conversation.Said, conversation.System // developer, system
		if p.Role == "user" || p.Role == "assistant" {
			e.Role = conversation.Role(p.Role)
		}
		var texts []string
		for _, c := range p.Content {
			texts = append(texts, c.Text)
		}
		e.Text = strings.Join(texts, "\n\n")
		tell(e)
	case strings.HasSuffix(p.Type, "_output"):
		e.Kind, e.ID, e.Status, e.Result = conversation.Returned, p.CallID, keptStatus(p.Output), p.Output
		tell(e)
	case strings.HasSuffix(p.Type, "_call") && p.CallID != "":
		e.Kind, e.ID, e.Tool = conversation.Called, p.CallID, p.Name
		if e.Tool == "" {
			e.Tool = strings.TrimSuffix(p.Type, "_call")
		}
		switch {
		case json.Valid([]byte(p.Args)):
			e.Params = json.RawMessage(p.Args)
		case p.Args+p.Input != "":
			e.Params = jsonline.Raw(p.Args + p.Input)
		default:
			e.Params = p.Action
		}
		tell(e)
	}
}

// keptStatus returns what became of a call by its output, which may be JSON in a text.
func keptStatus(output json.RawMessage) conversation.Status {
	var text string
	if json.Unmarshal(output, &text) == nil {
		output = json.RawMessage(text)
	}
	var o struct {
		Success  *bool `json:"success"`
		Metadata struct {
			ExitCode int `json:"exit_code"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(output, &o) // most are none
	if o.Success != nil && !*o.Success || o.Metadata.ExitCode != 0 {
		return conversation.Failed
	}
	return conversation.Completed
}
