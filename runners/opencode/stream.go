package opencode

import (
	"bytes"
	"strings"
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

	session   string
	answered  bool                // the model has answered
	lastText  []byte              // the text of the last step that had any, or the end of it
	saying    bool                // that step is still the one under way
	reason    string              // how the last step ended; "" while one is under way
	asks      bool                // it has asked the model, and nothing else is under way
	fault     *eventFault         // what it gave up on
	faultAt   time.Time           // when
	recovered bool                // it went on after a fault: then it ends with status 1 whatever comes
	rejected  bool                // a tool was rejected in the last step, which ends the session
	denied    map[string]struct{} // tools it was not allowed to use
	tools     eventstream.Tools
	asked     eventstream.Requests
	lastAt    int64 // when it last told something, in milliseconds since 1970
	stepping  bool  // a step has begun, and its tokens are not told
	unpriced  bool  // a step had no price
	progress  eventstream.Progress
}

const baseTokens = 8_000 // tokens of its own instructions and tools, about

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	ev, _ := jsonline.Read[outputEvent](line)
	if ev == nil {
		return
	}
	kind := ev.Type.String()
	switch kind {
	case "step_start", "text", "tool_use", "step_finish":
		s.modelAnswered()
	case "error":
		if ev.Error != nil {
			s.fault, s.faultAt = ev.Error, time.UnixMilli(ev.Timestamp)
		}
	default:
		return
	}
	if s.session == "" {
		if s.session = adapter.SessionID(ev.SessionID.String(), ""); s.session != "" {
			s.progress.ReportText(&s.req, runners.EventSession, s.session)
		}
	}
	s.lastAt = max(s.lastAt, ev.Timestamp)
	s.step(kind, &ev.Part)
}

// modelAnswered records that the model has answered and clears the last fault.
func (s *reader) modelAnswered() {
	s.recovered = s.recovered || s.fault != nil
	s.answered, s.fault = true, nil
}

func (s *reader) step(kind string, p *messagePart) {
	s.asks = kind == "step_finish" && p.Reason.String() == reasonToolCalls || kind == "text" && p.Synthetic
	switch kind {
	case "step_start":
		s.reason, s.saying, s.rejected = "", false, false
		if s.stepping { // the answer before it broke off, and was asked for again
			s.asked.Broken++
		}
		s.asked.Pending, s.stepping = true, true
	case "text":
		s.reason = ""
		s.text(p)
	case "tool_use":
		s.reason = ""
		s.tool(p)
	case "step_finish":
		s.reason = cleantext.OneLine(p.Reason.String(), cleantext.MaxName)
		s.count(p)
		s.asked.Pending, s.stepping = s.asks, false // it may ask again
		if s.reason == reasonStop {
			text := s.ending()
			s.progress.ReportText(&s.req, runners.EventResult, string(text[:min(len(text), eventstream.EventHead)]))
		}
	}
}

// reasonStop is the reason of a last step that ended well.
const reasonStop = "stop"

// reasonToolCalls is the reason of a step after which it uses tools, and asks the model again.
const reasonToolCalls = "tool-calls"

func (s *reader) text(p *messagePart) {
	if p.Synthetic || p.Text.Empty() { // such as: "continue", after it has summed up what no longer fitted the context
		s.saying = false
		return
	}
	if s.saying {
		s.lastText = append(s.lastText, '\n')
	} else {
		s.lastText, s.saying = s.lastText[:0], true
	}
	text := p.Text.String()
	s.lastText = append(s.lastText, text[max(0, len(text)-2*cleantext.MaxFinal):]...)
	if len(s.lastText) > 8*cleantext.MaxFinal {
		s.lastText = bytes.Clone(s.ending())
	}
	s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventText, Text: p.Text})
}

// ending returns what counts of what it said: a result stands at the end.
func (s *reader) ending() []byte { return s.lastText[max(0, len(s.lastText)-2*cleantext.MaxFinal):] }

func (s *reader) tool(p *messagePart) {
	s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventTool, Name: p.Tool, Text: p.State.Title, Input: p.State.Input})
	failed := p.State.Status.String() == "error"
	s.tools.Ended(nil, p.Tool, failed)
	if !failed {
		return
	}
	fault := p.State.Error.Head(cleantext.MaxString)
	s.rejected = s.rejected || strings.HasPrefix(fault, rejection)
	if strings.HasPrefix(fault, rejection) || strings.HasPrefix(fault, forbidden) {
		if s.denied == nil {
			s.denied = map[string]struct{}{}
		}
		if len(s.denied) < 20 {
			s.denied[cleantext.OneLine(p.Tool.String(), cleantext.MaxName)] = struct{}{}
		}
	}
}

// count adds a step's tokens and cost.
func (s *reader) count(p *messagePart) {
	t := p.Tokens
	in := max(0, t.Input) + max(0, t.Cache.Read) + max(0, t.Cache.Write)
	out := max(0, t.Output) + max(0, t.Reasoning)
	u := runners.Usage{
		InputTokens: in, CachedTokens: max(0, t.Cache.Read), CacheWrites: max(0, t.Cache.Write), OutputTokens: out, CostUSD: max(0, p.Cost),
	}
	s.asked.Report(u)
	s.unpriced = s.unpriced || p.Cost <= 0 && in+out > 0
}

// Usage returns what this run has used. opencode prices a model that it has no price for at nothing: a sum with such a
// step in it is no price, and would make a budget hold that does not.
func (s *reader) Usage() runners.Usage { return s.priced(s.asked.Reported) }

func (s *reader) priced(u runners.Usage) runners.Usage {
	if u.Priced = u.CostUSD > 0 && !s.unpriced; !u.Priced {
		u.CostUSD = 0
	}
	return u
}

func (s *reader) Requests() *eventstream.Requests { return &s.asked }

// used returns usage with what a run that was cut off has used besides: a step is told when its tools have ended, too.
// A request that was refused costs nothing, but of most of those nothing is told.
func (s *reader) used(e monitor.End) runners.Usage {
	if s.fault != nil || s.final() || !e.CutOff() {
		return s.Usage()
	}
	s.asked.Pending = (s.asked.Pending || !s.answered) && !s.refusedSince()
	return s.priced(s.asked.Total(s.asked.AnyReported))
}

// State returns Finished when the session seems to be over: nothing in the stream says so. The step after one that
// ended with "stop", if there is one, follows at once.
func (s *reader) State() monitor.State {
	s.progress.Flush(&s.req)
	switch {
	case s.final():
		return monitor.Finished
	case !s.answered:
		return monitor.AwaitingAnswer
	}
	return monitor.Working
}

// final reports whether the session has ended, well or not. After an overflow it sums up and goes on, and that takes a
// while.
func (s *reader) final() bool {
	if s.fault != nil {
		return s.fault.Name != "ContextOverflowError"
	}
	return s.reason != "" && s.reason != reasonToolCalls
}

// awaiting reports whether only the model's answer can be missing.
func (s *reader) awaiting() bool { return !s.answered || s.asks }
