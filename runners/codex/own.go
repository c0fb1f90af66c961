package codex

import (
	"cmp"
	"encoding/json"
	"strings"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// ownLine is one line of the file of a session. The names of fields without a tag are those in JSON but for their case.
type ownLine struct {
	Type      string // session_meta, turn_context, response_item, event_msg, compacted
	Timestamp string
	Payload   ownItem
}

type ownItem struct {
	Type, ID, CWD, Role, Name, Message, Input string      // Type: message, function_call, …; Input: of a custom_tool_call
	Model                                     string      // turn_context
	CallID                                    string      `json:"call_id"`
	Arguments                                 string      // JSON
	Usage                                     *tokenUsage // token_usage_record: of one answer
	Content                                   []struct{ Text string }
	Action, Output                            json.RawMessage // Action: local_shell_call, web_search_call
	Info                                      struct {
		Total  *tokenUsage `json:"total_token_usage"` // of the session so far
		Last   tokenUsage  `json:"last_token_usage"`
		Window int64       `json:"model_context_window"`
	}
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct{ session, model string }

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	p := &l.Payload
	e := runners.Message{At: runners.Millis(l.Timestamp), Model: s.model}
	switch kind := strings.TrimSuffix(l.Type+"/"+p.Type, "/"); {
	case kind == "session_meta" && s.session == "":
		s.session = p.ID
		e.Kind, e.ID, e.Dir = runners.Began, p.ID, p.CWD
	case kind == "turn_context":
		s.model = p.Model
	case kind == "event_msg/token_count" && p.Info.Total != nil:
		all, last := p.Info.Total.usage(), p.Info.Last.usage()
		e.Kind, e.Usage = runners.Used, runners.MessageUsage{
			Input: all.InputTokens, Output: all.OutputTokens, SoFar: true,
			Context: last.InputTokens + last.OutputTokens, ContextLimit: p.Info.Window,
		}
	case kind == "compacted", kind == "event_msg/error":
		e.Kind, e.Role, e.Text = runners.Said, runners.System, p.Message
	case l.Type == "response_item":
		p.fill(&e)
	}
	if e.Kind != 0 && s.session != "" {
		tell(e)
	}
}

// contextPattern matches what codex itself says in the user's name.
var contextPattern = pattern.New(
	`^\s*(<(environment_context|user_instructions|turn_aborted|skill|user_shell_command|subagent_notification)>|# AGENTS\.md instructions)`)

// fill says what a message, a call or its output is about.
func (p *ownItem) fill(e *runners.Message) {
	switch {
	case p.Type == "message":
		for _, c := range p.Content {
			e.Text = strings.TrimPrefix(e.Text+"\n\n"+c.Text, "\n\n")
		}
		e.Kind, e.ID, e.Role = runners.Said, p.ID, runners.System
		if p.Role == "assistant" || p.Role == "user" && !contextPattern.MatchString(e.Text) {
			e.Role = runners.Role(p.Role)
		}
	case strings.HasSuffix(p.Type, "_output"):
		e.Kind, e.ID, e.Status, e.Result = runners.Returned, p.CallID, ownStatus(p.Output), p.Output
	case strings.HasSuffix(p.Type, "_call") && p.CallID != "":
		e.Kind, e.ID, e.Tool = runners.Called, p.CallID, cmp.Or(p.Name, strings.TrimSuffix(p.Type, "_call"))
		if e.Params = adapter.InnerJSON(cmp.Or(p.Arguments, p.Input)); e.Params == nil {
			e.Params = p.Action
		}
	}
}

var exitPattern = pattern.New(`(?m)^(?:Process exited with code|Exit code:) -?[1-9]|^\{"output":.*"exit_code":-?[1-9]|"success":false`)

// ownStatus returns what became of a call by its output, which may be JSON in a string.
func ownStatus(output json.RawMessage) runners.ActionStatus {
	text := string(output)
	_ = json.Unmarshal(output, &text) // or it is an object
	switch {
	case strings.HasPrefix(text, "exec command rejected by user"), strings.HasPrefix(text, "patch rejected by user"):
		return runners.Rejected
	case exitPattern.MatchString(text):
		return runners.ActionFailed
	}
	return runners.ActionCompleted
}
