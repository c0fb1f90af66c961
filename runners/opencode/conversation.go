package opencode

import (
	"cmp"
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// Conversation returns a reader of the stream of opencode.
func Conversation() runners.MessageReader {
	return adapter.Conversation[outputEvent]((&speech{}).event)
}

// speech turns the stream into events of a conversation.
type speech struct {
	session string
	message string               // the last one that used something
	used    runners.MessageUsage // by it, in all of its steps
}

func (s *speech) event(_ []byte, ev *outputEvent, tell func(runners.Message)) {
	if id := ev.SessionID.String(); id != "" && id != s.session {
		s.session = id
		tell(runners.Message{Kind: runners.Began, ID: id, At: max(0, ev.Timestamp)})
	}
	e := runners.Message{At: max(0, ev.Timestamp), Role: runners.Assistant}
	p := &ev.Part
	switch ev.Type.String() {
	case "text":
		e.Kind, e.ID, e.Text = runners.Said, p.MessageID, p.Text.String()
		if p.Time.Start > 0 {
			e.At = p.Time.Start
		}
		tell(e)
	case "tool_use":
		s.tool(e, p, tell)
	case "step_start":
		e.Kind, e.ID = runners.Said, p.MessageID
		tell(e)
	case "step_finish":
		if p.MessageID != s.message {
			s.message, s.used = p.MessageID, runners.MessageUsage{}
		}
		u := p.Tokens.usage()
		s.used.Input, s.used.Output = s.used.Input+u.InputTokens, s.used.Output+u.OutputTokens
		s.used.Context = u.InputTokens + u.OutputTokens
		s.used.CostUSD += max(0, p.Cost)
		e.Kind, e.ID, e.Usage = runners.Used, p.MessageID, s.used
		tell(e)
	case "error":
		if ev.Error != nil {
			e.Kind, e.Role, e.Text = runners.Said, runners.System, cmp.Or(ev.Error.Data.Message, ev.Error.Name)
			tell(e)
		}
	}
}

// tool tells a call, which opencode prints once it is over.
func (s *speech) tool(e runners.Message, p *messagePart, tell func(runners.Message)) {
	said := e
	said.Kind, said.ID = runners.Said, p.MessageID
	if p.State.Time.Start > 0 {
		said.At = p.State.Time.Start
	}
	tell(said)
	call := said
	call.Kind, call.ID, call.Message = runners.Called, p.CallID, p.MessageID
	call.Tool, call.Params = p.Tool.String(), p.State.Input
	tell(call)
	over := call
	over.Kind, over.Status, over.Result = runners.Returned, runners.ActionCompleted, p.State.Output
	if over.At = p.State.Time.End; over.At <= 0 {
		over.At = e.At
	}
	if p.State.Status.String() == "error" {
		over.Status = runners.ActionFailed
		if over.Result == nil && !p.State.Error.Empty() {
			over.Result = adapter.RawJSON(p.State.Error.String())
		}
		if fault := p.State.Error.String(); strings.Contains(fault, rejection) || strings.Contains(fault, forbidden) {
			over.Status = runners.Rejected
		}
	}
	tell(over)
}

// The words with which opencode tells that a call was not allowed: by the answer to a question, and by a rule.
const (
	rejection = "The user rejected permission"
	forbidden = "The user has specified a rule which prevents you"
)
