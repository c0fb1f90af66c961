package opencode

import (
	"strings"
	"time"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// reader folds the stream into what a report needs. It keeps no line.
type reader struct {
	agent adapter.Stream

	lastText  adapter.Ending // the text of the last step that had any, or the end of it
	saying    bool           // that step is still the one under way
	reason    string         // how the last step ended; "" while one is under way
	asks      bool           // it has asked the model, and nothing else is under way
	fault     *eventFault    // what it gave up on
	faultAt   time.Time      // when
	recovered bool           // it went on after a fault: then it ends with status 1 whatever comes
	rejected  bool           // a tool was rejected in the last step, which ends the session
	lastAt    int64          // when it last told something, in milliseconds since 1970
	stepping  bool           // a step has begun, and its tokens are not told
	unpriced  bool           // a step had no price
}

const baseTokens = 8_000 // tokens of its own instructions and tools, about

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	ev, _ := adapter.ReadJSON[outputEvent](line)
	if ev == nil {
		return
	}
	kind := ev.Type.String()
	switch kind {
	case "step_start", "text", "tool_use", "step_finish":
		s.recovered = s.recovered || s.fault != nil
		s.agent.Answered, s.fault = true, nil
	case "error":
		if ev.Error != nil {
			s.fault, s.faultAt = ev.Error, time.UnixMilli(ev.Timestamp)
		}
	default:
		return
	}
	if s.agent.Session == "" {
		if s.agent.Session = adapter.SessionID(ev.SessionID.String(), ""); s.agent.Session != "" {
			s.agent.TellText(runners.EventSession, s.agent.Session)
		}
	}
	s.lastAt = max(s.lastAt, ev.Timestamp)
	s.step(kind, &ev.Part)
}

func (s *reader) step(kind string, p *messagePart) {
	s.asks = kind == "step_finish" && p.Reason.String() == reasonToolCalls || kind == "text" && p.Synthetic
	switch kind {
	case "step_start":
		s.reason, s.saying, s.rejected = "", false, false
		if s.stepping { // the answer before it broke off, and was asked for again
			s.agent.Asked.Broken++
		}
		s.agent.Asked.Pending, s.stepping = true, true
	case "text":
		s.reason = ""
		s.text(p)
	case "tool_use":
		s.reason = ""
		s.tool(p)
	case "step_finish":
		s.reason = runners.OneLine(p.Reason.String(), runners.MaxName)
		u := p.Tokens.usage()
		u.CostUSD = max(0, p.Cost)
		s.agent.Asked.Report(u)
		s.unpriced = s.unpriced || p.Cost <= 0 && u.InputTokens+u.OutputTokens > 0
		s.agent.Asked.Pending, s.stepping = s.asks, false // it may ask again
		if s.reason == reasonStop {
			s.agent.TellText(runners.EventResult, s.lastText.Head())
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
		s.lastText.Add("\n")
	} else {
		s.lastText, s.saying = s.lastText[:0], true
	}
	s.lastText.Add(p.Text.String())
	s.agent.Tell(&adapter.Action{Kind: runners.EventText, Text: p.Text})
}

func (s *reader) tool(p *messagePart) {
	s.agent.Tell(&adapter.Action{Kind: runners.EventTool, Name: p.Tool, Text: p.State.Title, Input: p.State.Input})
	failed := p.State.Status.String() == "error"
	s.agent.Tools.Ended(nil, p.Tool, failed)
	if !failed {
		return
	}
	fault := p.State.Error.Head(runners.MaxString)
	s.rejected = s.rejected || strings.HasPrefix(fault, rejection)
	if strings.HasPrefix(fault, rejection) || strings.HasPrefix(fault, forbidden) {
		*s.agent.Tools.Denied(p.Tool)++
	}
}

// Usage returns what this run has used. opencode prices a model that it has no price for at nothing: a sum with such a
// step in it is not a price, and a budget that trusts it would not hold.
func (s *reader) Usage() runners.Usage { return s.priced(s.agent.Asked.Reported) }

func (s *reader) priced(u runners.Usage) runners.Usage {
	if u.Priced = u.CostUSD > 0 && !s.unpriced; !u.Priced {
		u.CostUSD = 0
	}
	return u
}

// Used implements [adapter.StreamReader]: opencode reports a step once its tools have ended, too.
// A request that was refused costs nothing, but opencode does not report most of them.
func (s *reader) Used(e adapter.ProcessEnd) runners.Usage {
	if s.fault != nil || s.Final() || !e.CutOff() {
		return s.Usage()
	}
	waits := s.agent.Asked.Pending || !s.agent.Answered
	s.agent.Asked.Pending = waits && !readLog(s.agent.Req).failedSince(s.lastAt) // or it was refused
	return s.priced(s.agent.Asked.Total(s.agent.Asked.AnyReported))
}

// Final reports whether the session seems to have ended, well or not: nothing in the stream says so. The step after one that
// ended with "stop", if there is one, follows at once. After an overflow it sums up and goes on, and that takes a
// while.
func (s *reader) Final() bool {
	if s.fault != nil {
		return s.fault.Name != "ContextOverflowError"
	}
	return s.reason != "" && s.reason != reasonToolCalls
}
