package claude

import (
	"cmp"
	"fmt"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/eventstream"
	"relay/runners/internal/jsonline"
	"relay/runners/internal/monitor"
)

// reader folds the stream into what a report needs. It keeps no line.
type reader struct {
	req runners.Request
	now func() time.Time

	begun       bool // system/init was seen
	answered    bool // the model has answered
	torn        bool // the last line is half of one
	session     string
	model       string
	lastMessage string // the beginning of the last text of the agent itself
	plain       string // the last line without an event
	result      *resultEvent
	subtype     string       // of the result: success, error_max_turns, …
	resumed     bool         // it went on working after the result
	retry       *outputEvent // the provider's last fault that the CLI is waiting out
	apiError    string       // the CLI's word for the fault it gave up on
	limit       *rateLimit   // the usage limit that was hit
	running     eventstream.Steps
	tools       eventstream.Tools
	called      map[string]int // calls by tool
	denied      map[string]int // and those that were not allowed
	counted     tokenCount
	progress    eventstream.Progress
}

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	object, ok := jsonline.Object(line)
	if !ok {
		s.plain = cmp.Or(cleantext.OneLine(string(line[:min(len(line), cleantext.MaxDetail)]), cleantext.MaxDetail), s.plain)
		return
	}
	line = object
	ev, torn := jsonline.Decode[outputEvent](line)
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
			s.apiError = jsonline.Name(ev.Error)
			return
		}
		m := ev.message()
		s.assistant(&m, ev.Parent != nil)
	case "user":
		m := ev.message()
		s.user(&m)
	case "rate_limit_event":
		s.rateLimit(ev.RateLimit)
	case "result":
		s.session = adapter.SessionID(ev.SessionID, s.session)
		s.result, s.subtype, s.resumed = &ev.resultEvent, ev.Subtype, false
		s.progress.ReportText(&s.req, runners.EventResult, ev.Result)
	}
}

func (s *reader) system(ev *outputEvent) {
	switch ev.Subtype {
	case "init":
		s.begun = true
		s.session = adapter.SessionID(ev.SessionID, s.session)
		s.model = cleantext.OneLine(ev.Model, cleantext.MaxName)
		s.progress.ReportText(&s.req, runners.EventSession, s.session)
	case "status":
		if ev.Status == "requesting" {
			s.counted.Ask()
		}
	case "api_retry":
		s.retry, s.counted.Pending = ev, false
		s.progress.ReportText(&s.req, runners.EventRetry, fmt.Sprintf("%s; asks again in %.0f s (%d of %d)",
			adapter.ProviderFault(ev.ErrorStatus, jsonline.Name(ev.Error)), ev.RetryDelayMS/1000, ev.Attempt, ev.MaxRetries))
	case "model_fallback":
		s.model = cleantext.OneLine(ev.Fallback, cleantext.MaxName)
	case "permission_denied":
		if s.denied == nil {
			s.denied = map[string]int{}
		}
		count(s.denied, ev.Tool)
	}
}

func (s *reader) assistant(m *message, subagent bool) {
	s.answered = true
	s.retry, s.apiError, s.limit = nil, "", nil
	s.resumed = s.resumed || s.result != nil && !subagent
	s.counted.message(m, subagent)
	for i := range m.blocks {
		b := &m.blocks[i]
		switch b.Type.String() {
		case "text":
			if b.Text.Empty() {
				continue
			}
			if !subagent { // whose words are not the answer
				s.lastMessage = b.Text.Head(2 * cleantext.MaxFinal)
			}
			s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventText, Text: b.Text})
		case "tool_use":
			if s.called == nil {
				s.called = map[string]int{}
			}
			count(s.called, b.Name.String())
			s.running.Begin(b.ID)
			s.tools.Begin(b.ID, b.Name)
			s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventTool, Name: b.Name, Input: b.Input})
		}
	}
}

// user handles the results of tools.
func (s *reader) user(m *message) {
	for i := range m.blocks {
		if b := &m.blocks[i]; b.Type.String() == "tool_result" {
			s.running.End(b.Ends)
			s.tools.End(b.Ends, b.Failed)
		}
	}
}

// part handles a piece of a message that is being written.
func (s *reader) part(p *messagePart, of jsonline.String) {
	switch p.Type.String() {
	case "message_start":
		s.answered, s.retry, s.apiError = true, nil, ""
		s.counted.messageBegan(&p.Message)
	case "content_block_delta":
		s.counted.writes(p.Delta.chars())
	case "message_delta":
		s.counted.messageEnded(of, p.Usage)
	}
}

func (s *reader) rateLimit(info *rateLimit) {
	if info != nil && info.Status == "rejected" {
		s.limit = info
	} else {
		s.limit = nil
	}
}

// State returns whether the agent is done, or waiting for it is in vain: the CLI asks again for minutes after a refused
// login. One refusal may be an access token that it is just renewing.
func (s *reader) State() monitor.State {
	s.progress.Flush(&s.req)
	switch {
	case s.final():
		return monitor.Finished
	case s.retry != nil && s.retry.Attempt >= 2 && adapter.Blame(s.retry.ErrorStatus, jsonline.Name(s.retry.Error)) == runners.Auth:
		return monitor.Hopeless
	case !s.answered:
		return monitor.AwaitingAnswer
	}
	return monitor.Working
}

func (s *reader) ModelName() string { return s.model }

func (s *reader) final() bool { return s.result != nil && !s.resumed }
