package claude

import (
	"cmp"
	"fmt"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// reader folds the stream into what a report needs. It keeps no line.
type reader struct {
	agent adapter.Stream

	torn        bool   // the last line is half of one
	lastMessage string // the beginning of the last text of the agent itself
	plain       string // the last line without an event
	result      *resultEvent
	subtype     string       // of the result: success, error_max_turns, …
	resumed     bool         // it went on working after the result
	retry       *outputEvent // the provider's last fault that the CLI is waiting out
	apiError    string       // the CLI's word for the fault it gave up on
	limit       *rateLimit   // the usage limit that was hit
	counted     tokenCount
}

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	ev, torn := adapter.ReadJSON[outputEvent](line)
	if ev == nil && !torn {
		s.plain = cmp.Or(runners.OneLine(string(line[:min(len(line), runners.MaxDetail)]), runners.MaxDetail), s.plain)
		return
	}
	if s.torn = torn; torn {
		return
	}
	switch ev.Type.String() {
	case "system":
		s.system(ev)
	case streamEventType:
		s.part(&ev.Part, ev.PartOf)
	case "assistant":
		if ev.IsAPIError { // written by the CLI in the agent's name: the text in it is for people
			s.apiError = adapter.JSONName(ev.Error)
			return
		}
		m := ev.message()
		s.assistant(&m, ev.Parent != nil)
	case "user":
		for _, b := range ev.message().blocks {
			if b.Type.String() == "tool_result" {
				s.agent.Tools.End(b.Ends, b.Failed)
			}
		}
	case "rate_limit_event":
		if s.limit = nil; ev.RateLimit != nil && ev.RateLimit.Status == "rejected" {
			s.limit = ev.RateLimit
		}
	case "result":
		s.agent.Session = adapter.SessionID(ev.SessionID, s.agent.Session)
		s.result, s.subtype, s.resumed = &ev.resultEvent, ev.Subtype, false
		s.agent.Tools.DeniedInAll(ev.Denials)
		s.agent.TellText(runners.EventResult, ev.Result)
	}
}

func (s *reader) system(ev *outputEvent) {
	switch ev.Subtype {
	case "init":
		s.agent.Start(adapter.SessionID(ev.SessionID, s.agent.Session), ev.Model)
	case "status":
		if ev.Status == "requesting" {
			s.agent.Ask()
		}
	case "api_retry":
		s.retry, s.agent.Asked.Pending = ev, false
		s.agent.Hopeless = ev.Attempt >= 2 && adapter.Blame(ev.ErrorStatus, adapter.JSONName(ev.Error)) == runners.Auth
		s.agent.TellText(runners.EventRetry, fmt.Sprintf("%s; asks again in %.0f s (%d of %d)",
			adapter.ProviderFault(ev.ErrorStatus, adapter.JSONName(ev.Error)), ev.RetryDelayMS/1000, ev.Attempt, ev.MaxRetries))
	case "model_fallback":
		s.agent.Model = runners.OneLine(ev.Fallback, runners.MaxName)
	case "permission_denied":
		*s.agent.Tools.Denied(ev.Tool)++
	}
}

func (s *reader) assistant(m *message, subagent bool) {
	s.answered()
	s.limit = nil
	s.resumed = s.resumed || s.result != nil && !subagent
	s.counted.message(&s.agent.Asked, m, subagent)
	for i := range m.blocks {
		b := &m.blocks[i]
		switch b.Type.String() {
		case "text":
			if b.Text.Empty() {
				continue
			}
			if !subagent { // whose words are not the answer
				s.lastMessage = b.Text.Head(2 * runners.MaxFinal)
			}
			s.agent.Tell(&adapter.Action{Kind: runners.EventText, Text: b.Text})
		case "tool_use":
			s.agent.Tools.Begin(b.ID, b.Name)
			s.agent.Tell(&adapter.Action{Kind: runners.EventTool, Name: b.Name, Input: b.Input})
		}
	}
}

// answered records that the model has answered, so that it waits out no fault any more. It is in vain to wait for a CLI that asks again
// after a refused login, for minutes. One refusal may be an access token that it is just renewing.
func (s *reader) answered() {
	s.agent.Answered, s.agent.Hopeless, s.retry, s.apiError = true, false, nil, ""
}

// part handles a piece of a message that is being written.
func (s *reader) part(p *messagePart, of adapter.JSONString) {
	switch p.Type.String() {
	case "message_start":
		s.answered()
		s.agent.Asked.Pending = false
		if id := p.Message.ID.String(); s.counted.reads(&s.agent.Asked, id, p.Message.Usage) {
			s.counted.open = id
		}
	case "content_block_delta":
		if id := s.counted.open; id != "" {
			w := s.counted.messages[id]
			w.chars += int64(p.Delta.chars())
			s.counted.written(&s.agent.Asked, id, w)
		}
	case "message_delta":
		s.counted.messageEnded(&s.agent.Asked, of, p.Usage)
	}
}

// Final implements [adapter.StreamReader].
func (s *reader) Final() bool { return s.result != nil && !s.resumed }
