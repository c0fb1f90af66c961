package codex

import (
	"bytes"
	"encoding/json"
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

	begun       bool // thread.started was seen
	answered    bool // the model has answered
	torn        bool // the last line is half of one
	session     string
	lastMessage string // the beginning of the agent's last message
	step        string // id of the step last told to the observer
	running     eventstream.Steps
	tools       eventstream.Tools
	steps       int // commands and changes of files that have ended
	vain        int // those of them that failed

	done     bool        // turn.completed
	failed   string      // what turn.failed says
	fault    string      // the CLI's last word on what went wrong, which need not be the end
	retry    string      // the provider's fault that the CLI is waiting out
	waits    int         // how often in a row it has waited for the network: it does so for ever
	refused  int         // how often in a row the provider refused its login
	total    *tokenUsage // of the session
	file     eventstream.SessionLog
	model    string // by that file
	asked    eventstream.Requests
	progress eventstream.Progress
}

const baseTokens = 9_000 // tokens of its own instructions and tools, about

// A network that is gone for so many waits, some five minutes, is better waited for by relay, which can ask another
// provider.
const maxWaits = 8

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	line, ok := jsonline.Object(line)
	if !ok {
		return
	}
	ev, torn := jsonline.Decode[outputEvent](line)
	if s.torn = torn; torn {
		return
	}
	switch kind := ev.Type.String(); kind {
	case "thread.started":
		s.begun = true
		s.session = adapter.SessionID(ev.ThreadID, s.session)
		s.progress.ReportText(&s.req, runners.EventSession, s.session)
	case "turn.started":
		s.turnBegan()
	case "error":
		s.handleError(ev.Message)
	case "item.started", "item.updated", "item.completed":
		s.item(kind == "item.completed", &ev.Item)
	case "turn.completed":
		s.modelAnswered()
		s.done, s.total = true, ev.Usage
		s.progress.ReportText(&s.req, runners.EventResult, s.lastMessage)
	case "turn.failed":
		s.failed = cleanFault(ev.Error.Message)
		s.breaks(s.failed)
		s.progress.ReportText(&s.req, runners.EventResult, s.failed)
	}
}

// turnBegan records that a turn begins.
func (s *reader) turnBegan() {
	s.done, s.failed = false, ""
	s.modelAsked()
}

// modelAsked records that the model is asked, for runs without a session file. It is asked again when all its tools have ended.
func (s *reader) modelAsked() {
	if !s.file.Found() {
		s.asked.Ask()
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
			s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventText, Text: item.Text})
		}
	case "reasoning", "todo_list":
		s.modelWrote(0)
	default:
		s.modelWrote(len(item.Command))
		if completed {
			s.tools.Ended(item.ID, item.tool(), item.failed())
			if s.running.End(item.ID); len(s.running) == 0 {
				s.modelAsked()
			}
		} else {
			s.running.Begin(item.ID)
			s.tools.Begin(item.ID, item.tool())
		}
		if completed && (kind == "command_execution" || kind == "file_change") {
			s.steps++
			if item.failed() {
				s.vain++
			}
		}
		if id := item.ID.String(); s.step == "" || id != s.step {
			s.step = item.ID.Head(cleantext.MaxName)
			step := item.note()
			s.progress.Report(&s.req, &step)
		}
	}
}

// modelAnswered records that the model has answered and clears the last retry.
func (s *reader) modelAnswered() {
	s.answered = true
	s.fault, s.retry, s.waits, s.refused = "", "", 0, 0
}

// modelWrote records that the model has written so many characters.
func (s *reader) modelWrote(chars int) {
	s.modelAnswered()
	if !s.file.Found() {
		s.asked.Answer(chars)
	}
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
	s.progress.ReportText(&s.req, runners.EventRetry, message)
}

// breaks counts an answer that broke off: its tokens are told nowhere.
func (s *reader) breaks(fault string) {
	if o, _ := classifyFault(fault); o == runners.Truncated {
		s.asked.Broken++
	}
}

// State returns whether the agent is done, or waiting for it is in vain. One refused login may be an access token that
// it is just renewing.
func (s *reader) State() monitor.State {
	s.progress.Flush(&s.req)
	switch {
	case s.final():
		return monitor.Finished
	case s.refused >= 2, s.waits >= maxWaits:
		return monitor.Hopeless
	case !s.answered:
		return monitor.AwaitingAnswer
	}
	return monitor.Working
}

func (s *reader) final() bool { return s.done || s.failed != "" }

// Usage returns what this run has used: codex counts a session as a whole. A count below the earlier one has begun
// anew.
func (s *reader) Usage() runners.Usage {
	var u runners.Usage
	switch {
	case s.total != nil:
		u = s.total.usage().AtLeast(s.asked.Reported)
	case !s.asked.AnyReported:
		return s.asked.SoFar(s.file.Expected())
	default:
		u = s.asked.Reported
	}
	return since(u, s.req.Spent)
}

// used returns usage with what a run that was cut off has used besides. A request that was refused costs nothing.
func (s *reader) used(e monitor.End) runners.Usage {
	u := s.Usage()
	if s.done {
		return u
	}
	s.asked.Pending = s.asked.Pending && s.failed == "" && s.retry == "" && e.CutOff()
	if more := s.asked.Total(s.file.Found()); more.Estimated && s.asked.AnyReported {
		return since(more, s.req.Spent)
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

func (s *reader) SessionLog() *eventstream.SessionLog { return &s.file }

func (s *reader) Requests() *eventstream.Requests { return &s.asked }

func (s *reader) ModelName() string { return s.model }

// record reads a line of the session's file, which says of each answer what it has used.
func (s *reader) record(line []byte) {
	var r sessionRecord
	if json.Unmarshal(line, &r) != nil {
		return
	}
	switch kind := r.Payload.Type; {
	case r.Type == "turn_context":
		s.model = cleantext.OneLine(r.Payload.Model, cleantext.MaxName)
	case r.Type == "token_usage_record" && r.Payload.Usage != nil:
		s.asked.Report(r.Payload.Usage.usage())
	case kind == "token_count" && r.Payload.Info.Total != nil:
		s.asked.Reported = s.asked.Reported.AtLeast(r.Payload.Info.Total.usage())
		s.asked.AnyReported = true
	case bytes.Contains(line, []byte("aborted by user")), bytes.Contains(line, []byte("<turn_aborted>")): // nobody is asked after that
	case strings.HasSuffix(kind, "_call_output"), kind == "message" && r.Payload.Role == "user":
		at, _ := time.Parse(time.RFC3339, r.Time)
		s.asked.AskAt(at)
	}
}
