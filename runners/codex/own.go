package codex

import (
	"cmp"
	"encoding/json"
	"strings"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// OwnSessions returns where codex keeps its sessions.
func OwnSessions() runners.OwnSessions {
	return runners.OwnSessions{
		Folder: home,
		Names:  []string{"sessions/*/*/*/rollout-*.jsonl", "archived_sessions/rollout-*.jsonl"},
		Reader: func(string, string) runners.MessageReader { return adapter.Conversation[ownLine]((&ownSpeech{}).line) },
	}
}

// ownLine is one line of the file of a session.
type ownLine struct {
	Time    string  `json:"timestamp"`
	Type    string  `json:"type"` // session_meta, turn_context, response_item, event_msg, compacted
	Payload ownItem `json:"payload"`
}

type ownItem struct {
	Type    string `json:"type"` // response_item: message, function_call, function_call_output, …; event_msg: token_count, …
	ID      string `json:"id"`
	Dir     string `json:"cwd"`
	Model   string `json:"model"` // turn_context
	Role    string `json:"role"`
	Message string `json:"message"` // compacted, error
	Content []struct {
		Text adapter.JSONString `json:"text"`
	} `json:"content"`
	Name   string             `json:"name"` // of the tool
	CallID string             `json:"call_id"`
	Args   adapter.JSONString `json:"arguments"` // JSON in a string
	Input  adapter.JSONString `json:"input"`     // custom_tool_call: any text
	Action json.RawMessage    `json:"action"`    // local_shell_call, web_search_call
	Output json.RawMessage    `json:"output"`    // a string, or an object
	Info   struct {
		Total  *tokenUsage `json:"total_token_usage"` // of the session so far
		Last   tokenUsage  `json:"last_token_usage"`
		Window int64       `json:"model_context_window"`
	} `json:"info"`
}

// ownSpeech turns such lines into events of a conversation.
type ownSpeech struct{ session, model string }

func (s *ownSpeech) line(_ []byte, l *ownLine, tell func(runners.Message)) {
	p := &l.Payload
	e := runners.Message{At: runners.Millis(l.Time), Model: s.model}
	switch {
	case l.Type == "session_meta" && p.ID != "" && s.session == "":
		s.session = p.ID
		e.Kind, e.ID, e.Dir = runners.Began, p.ID, p.Dir
	case l.Type == "turn_context":
		s.model = p.Model
		return
	case l.Type == "response_item":
		s.item(e, p, tell)
		return
	case l.Type == "event_msg" && p.Type == "token_count" && p.Info.Total != nil:
		all, last := p.Info.Total.usage(), p.Info.Last.usage()
		e.Kind = runners.Used
		e.Usage = runners.MessageUsage{Input: all.InputTokens, Output: all.OutputTokens, SoFar: true}
		e.Usage.Context, e.Usage.ContextLimit = last.InputTokens+last.OutputTokens, p.Info.Window
	case l.Type == "compacted", l.Type == "event_msg" && p.Type == "error":
		e.Kind, e.Role, e.Text = runners.Said, runners.System, p.Message
	default:
		return
	}
	tell(e)
}

// contextPattern matches what codex itself says in the user's name.
var contextPattern = pattern.New(`^\s*(<(environment_context|user_instructions|turn_aborted|skill|user_shell_command|subagent_notification)>|# AGENTS\.md instructions)`)

func (s *ownSpeech) item(e runners.Message, p *ownItem, tell func(runners.Message)) {
	switch {
	case p.Type == "message":
		var texts []string
		for _, c := range p.Content {
			texts = append(texts, c.Text.String())
		}
		e.Kind, e.ID, e.Role, e.Text = runners.Said, p.ID, runners.System, strings.Join(texts, "\n\n")
		if p.Role == "assistant" || p.Role == "user" && !contextPattern.MatchString(e.Text) {
			e.Role = runners.Role(p.Role)
		}
	case strings.HasSuffix(p.Type, "_output"):
		e.Kind, e.ID, e.Status, e.Result = runners.Returned, p.CallID, ownStatus(p.Output), p.Output
	case strings.HasSuffix(p.Type, "_call") && p.CallID != "":
		e.Kind, e.ID, e.Tool = runners.Called, p.CallID, cmp.Or(p.Name, strings.TrimSuffix(p.Type, "_call"))
		switch args := p.Args.String(); {
		case json.Valid([]byte(args)):
			e.Params = json.RawMessage(args)
		case args+p.Input.String() != "":
			e.Params = adapter.RawJSON(args + p.Input.String())
		default:
			e.Params = p.Action
		}
	default:
		return
	}
	tell(e)
}

var exitPattern = pattern.New(`(?m)^(?:Process exited with code|Exit code:) (-?\d+)`)

// ownStatus returns what became of a call by its output, which may be JSON in a string.
func ownStatus(output json.RawMessage) runners.ActionStatus {
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
	exit := exitPattern.FindStringSubmatch(text)
	switch {
	case strings.HasPrefix(text, "exec command rejected by user"), strings.HasPrefix(text, "patch rejected by user"):
		return runners.Rejected
	case o.Success != nil && !*o.Success, o.Metadata.ExitCode != 0, exit != nil && exit[1] != "0":
		return runners.ActionFailed
	}
	return runners.ActionCompleted
}
