package codex

import (
	"strings"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// reader folds the stream into what a report needs. It keeps no line.
type reader struct {
	agent adapter.Stream

	torn        bool   // the last line is half of one
	lastMessage string // the beginning of the agent's last message
	step        string // id of the step last told to the observer
	steps       int    // commands and changes of files that have ended
	vain        int    // those of them that failed

	done    bool        // turn.completed
	failed  string      // what turn.failed says
	fault   string      // the CLI's last word on what went wrong, which need not be the end
	retry   string      // the provider's fault that the CLI is waiting out
	waits   int         // how often in a row it has waited for the network: it does so for ever
	refused int         // how often in a row the provider refused its login
	total   *tokenUsage // of the session
}

const baseTokens = 9_000 // tokens of its own instructions and tools, about

// A network that is gone for so many waits, some five minutes, is better waited for by relay, which can ask another
// provider.
const maxWaits = 8

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	ev, torn := adapter.ReadJSON[outputEvent](line)
	if s.torn = torn || ev == nil && s.torn; ev == nil {
		return
	}
	switch kind := ev.Type.String(); kind {
	case "thread.started":
		s.agent.Start(adapter.SessionID(ev.ThreadID, s.agent.Session), "")
	case "turn.started":
		s.done, s.failed = false, ""
		s.agent.Ask()
	case "error":
		s.handleError(ev.Message)
	case "item.started", "item.updated", "item.completed":
		s.item(kind == "item.completed", &ev.Item)
	case "turn.completed":
		s.modelAnswered()
		s.done, s.total = true, ev.Usage
		s.agent.TellText(runners.EventResult, s.lastMessage)
	case "turn.failed":
		s.failed = cleanFault(ev.Error.Message)
		s.breaks(s.failed)
		s.agent.TellText(runners.EventResult, s.failed)
	}
}

// item handles a step. One of type error is the CLI's own, and comes before the model has said anything.
func (s *reader) item(completed bool, item *turnItem) {
	switch kind := item.Type.String(); kind {
	case "", "error":
		return
	case "agent_message":
		s.modelWrote(len(item.Text))
		if completed && !item.Text.Empty() {
			s.lastMessage = item.Text.Head(runners.MaxResult)
			s.agent.Tell(&adapter.Action{Kind: runners.EventText, Text: item.Text})
		}
	case "reasoning", "todo_list":
		s.modelWrote(0)
	default:
		s.modelWrote(len(item.Command))
		if completed {
			if s.agent.Tools.Ended(item.ID, item.tool(), item.failed()); s.agent.Tools.Running() == 0 {
				s.agent.Ask() // once all of its tools have ended
			}
		} else {
			s.agent.Tools.Begin(item.ID, item.tool())
		}
		if completed && (kind == "command_execution" || kind == "file_change") {
			s.steps++
			if item.failed() {
				s.vain++
			}
		}
		if id := item.ID.String(); s.step == "" || id != s.step {
			s.step = item.ID.Head(runners.MaxName)
			step := item.note()
			s.agent.Tell(&step)
		}
	}
}

// modelAnswered records that the model has answered and clears the last retry.
func (s *reader) modelAnswered() {
	s.agent.Answered, s.agent.Hopeless = true, false
	s.fault, s.retry, s.waits, s.refused = "", "", 0, 0
}

// modelWrote records that the model has written so many characters.
func (s *reader) modelWrote(chars int) {
	s.modelAnswered()
	s.agent.Write(chars)
}

// handleError handles an error that the CLI reports. "Reconnecting... 2/5 (why)" and "Reconnecting... waiting for network
// (why)" mean that it asks again.
func (s *reader) handleError(message string) {
	message = cleanFault(message)
	again, found := strings.CutPrefix(message, "Reconnecting...")
	if !found {
		s.fault = message
		return
	}
	how, why, _ := strings.Cut(again, "(")
	s.retry = strings.TrimSuffix(why, ")")
	s.breaks(s.retry)
	if strings.TrimSpace(how) == "waiting for network" {
		s.waits++
	}
	if o, _ := classifyFault(s.retry); o == runners.Auth {
		s.refused++
	} else {
		s.refused = 0
	}
	s.agent.Hopeless = s.refused >= 2 || s.waits >= maxWaits // one refused login may be an access token that it is just renewing
	s.agent.TellText(runners.EventRetry, message)
}

// breaks counts an answer that broke off: the CLI does not report its tokens.
func (s *reader) breaks(fault string) {
	if o, _ := classifyFault(fault); o == runners.Truncated {
		s.agent.Asked.Broken++
	}
}

// Final implements [adapter.StreamReader].
func (s *reader) Final() bool { return s.done || s.failed != "" }

// Usage returns what this run has used: codex counts a session as a whole. A count below the earlier one has started
// from zero.
func (s *reader) Usage() runners.Usage {
	var u runners.Usage
	switch {
	case s.total != nil:
		u = s.total.usage().AtLeast(s.agent.Asked.Reported)
	case !s.agent.Asked.AnyReported:
		return s.agent.Asked.SoFar(s.agent.File.Expected())
	default:
		u = s.agent.Asked.Reported
	}
	return since(u, s.agent.Req.Spent)
}

// Used implements [adapter.StreamReader]. A request that was refused costs nothing.
func (s *reader) Used(e adapter.ProcessEnd) runners.Usage {
	u := s.Usage()
	if s.done {
		return u
	}
	s.agent.Asked.Pending = s.agent.Asked.Pending && s.failed == "" && s.retry == "" && e.CutOff()
	if more := s.agent.Asked.Total(s.agent.File.Found()); more.Estimated && s.agent.Asked.AnyReported {
		return since(more, s.agent.Req.Spent)
	} else if more.Estimated {
		return more
	}
	return u
}

// since returns what a session has used beyond what it had before.
func since(u, before runners.Usage) runners.Usage {
	if before.InputTokens <= u.InputTokens && before.OutputTokens <= u.OutputTokens {
		u.InputTokens -= before.InputTokens
		u.CachedTokens = max(0, u.CachedTokens-before.CachedTokens)
		u.OutputTokens -= before.OutputTokens
	}
	return u
}
