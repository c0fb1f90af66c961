package gemini

import (
	"encoding/json"
	"time"

	"relay/internal/plaintext"
	"relay/runners"
	"relay/runners/internal/cleantext"
	"relay/runners/internal/eventstream"
	"relay/runners/internal/jsonline"
	"relay/runners/internal/monitor"
)

// reader folds the stream into what a report needs. It keeps no line.
type reader struct {
	req  runners.Request
	now  func() time.Time
	mode string

	begun      bool  // init was seen
	answered   bool  // the model has answered
	turns      int   // answers of the model
	shown      int64 // bytes of the last line with a tool's answer
	asking     bool  // it waits for the model: nothing came since the prompt, or since the last tool's answer
	session    string
	model      string
	recentText []byte // the end of what the agent said since the last tool's answer
	looped     bool   // stopped by the CLI's own loop detection
	fault      string // the CLI's last error message
	wrote      bool   // used a tool that changes something
	result     *outputEvent
	resumed    bool              // it went on working after the result
	calls      map[string]string // tools at work, by the id of the call
	tools      eventstream.Tools
	denied     string    // the last tool a policy refused
	began      time.Time // when, by its own clock
	file       eventstream.SessionLog
	answers    map[string]struct{} // ids of those in that file that are counted
	asked      eventstream.Requests
	progress   eventstream.Progress
}

// statusError is the status of a tool or of a run that failed.
const statusError = "error"

const baseTokens = 12_000 // tokens of its own instructions and tools, about

const (
	maxCalls   = 1000   // tools at work that are remembered by name
	maxAnswers = 20_000 // ids of answers that are remembered; what comes after is not counted
)

// Line reads one line of stdout. Lines that are no JSON object or of an unknown type are ignored.
func (s *reader) Line(line []byte) {
	ev, _ := jsonline.Read[outputEvent](line)
	if ev == nil {
		return
	}
	switch ev.Type.String() {
	case "init":
		s.begun = true
		s.session = validSession(ev.SessionID, s.session)
		s.model = cleantext.OneLine(ev.Model, cleantext.MaxName)
		s.began, _ = time.Parse(time.RFC3339, ev.Time)
		s.progress.ReportText(&s.req, runners.EventSession, s.session)
	case "message":
		s.message(ev.Role, ev.Content)
	case "tool_use":
		s.tool(ev.Tool, ev.ToolID, ev.Input)
	case "tool_result":
		fault := ""
		if ev.Error != nil {
			fault = ev.Error.Type
		} else {
			s.shown = int64(len(line))
		}
		s.tools.End(ev.ToolID, ev.Status == statusError)
		s.toolResult(ev.ToolID, fault)
	case "error":
		s.looped = s.looped || ev.Severity == "warning" && ev.Message == "Loop detected, stopping execution"
		if ev.Severity == "error" {
			s.fault = plaintext.Head(ev.Message, cleantext.MaxString)
		}
	case "result":
		s.result, s.resumed = ev, false
		s.progress.ReportText(&s.req, runners.EventResult, string(s.recentText[:min(len(s.recentText), eventstream.EventHead)]))
	}
}

func (s *reader) message(role, content jsonline.String) {
	if role.String() != "assistant" {
		s.modelAsked()
		return
	}
	s.modelWrote(len(content))
	text := content.String()
	s.recentText = append(s.recentText, text[max(0, len(text)-8*cleantext.MaxFinal-1):]...)
	if len(s.recentText) > 8*cleantext.MaxFinal { // a result stands at the end
		s.recentText = append(s.recentText[:0], s.recentText[len(s.recentText)-2*cleantext.MaxFinal:]...)
	}
	s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventText, Text: content})
}

func (s *reader) tool(tool, id jsonline.String, input json.RawMessage) {
	s.modelWrote(len(input))
	name := tool.String()
	switch name {
	case "write_file", "replace", "run_shell_command":
		s.wrote = true
	}
	s.tools.Begin(id, tool)
	if s.calls == nil {
		s.calls = map[string]string{}
	}
	if len(s.calls) < maxCalls {
		s.calls[id.Head(cleantext.MaxName)] = cleantext.OneLine(name, cleantext.MaxName)
	}
	s.progress.Report(&s.req, &eventstream.Action{Kind: runners.EventTool, Name: tool, Input: input})
}

// toolResult handles a tool's result. What the agent said before it is not its final message.
func (s *reader) toolResult(call jsonline.String, fault string) {
	id := call.Head(cleantext.MaxName)
	if fault == "policy_violation" {
		s.denied = s.calls[id]
	}
	delete(s.calls, id)
	if s.asking = len(s.calls) == 0; s.asking {
		s.modelAsked()
	}
	s.recentText = s.recentText[:0]
}

// modelAsked records that the model is asked.
func (s *reader) modelAsked() {
	s.asking = true
	if !s.file.Found() {
		s.asked.Ask()
	}
}

// modelWrote records that the model has written so many characters.
func (s *reader) modelWrote(chars int) {
	if s.asking || !s.answered {
		s.turns++
	}
	s.answered, s.asking, s.resumed = true, false, s.result != nil
	if !s.file.Found() {
		s.asked.Answer(chars)
	}
}

// State returns whether the agent is done. It never reports that waiting is in vain: the CLI reports repeated requests
// on stderr only.
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

func (s *reader) final() bool { return s.result != nil && !s.resumed }

// Usage returns what the result says was used or, before there is one, the session's file.
func (s *reader) Usage() runners.Usage {
	if s.result == nil || s.result.Stats == nil {
		return s.asked.SoFar(s.file.Expected())
	}
	reported := s.result.Stats.usage()
	if s.result.Error == nil && s.result.Status == "success" {
		return reported
	}
	return reported.AtLeast(s.asked.Reported)
}

// used returns usage with what a run that was cut off has used besides. A request that was refused costs nothing.
func (s *reader) used(e monitor.End) runners.Usage {
	if s.result != nil || !e.CutOff() {
		return s.Usage()
	}
	if _, refused := s.retried(); refused {
		s.asked.Pending = false
	}
	return s.asked.Total(s.file.Found())
}

func (s *reader) SessionLog() *eventstream.SessionLog { return &s.file }

func (s *reader) Requests() *eventstream.Requests { return &s.asked }

func (s *reader) ModelName() string { return s.model }

// record reads a line of the session's file. What was in it before this run is not counted.
func (s *reader) record(line []byte) {
	var r sessionRecord
	if json.Unmarshal(line, &r) != nil {
		return
	}
	at, err := time.Parse(time.RFC3339, r.Time)
	if err != nil || at.Before(s.began) {
		return
	}
	_, counted := s.answers[r.ID]
	switch {
	case r.Type == "user":
		s.asked.AskAt(at)
	case r.Type == "gemini" && r.Tokens != nil && !counted && len(s.answers) < maxAnswers:
		if s.answers == nil {
			s.answers = map[string]struct{}{}
		}
		s.answers[r.ID] = struct{}{}
		s.asked.Report(r.Tokens.usage())
	}
}

// worked returns the model that did most of the work: the one asked for may be a name for several ("auto").
func (s *reader) worked() string {
	if s.result == nil || s.result.Stats == nil {
		return s.model
	}
	most, model := int64(0), s.model
	for name, stats := range s.result.Stats.Models {
		if stats.Total > most || stats.Total == most && most > 0 && name < model {
			most, model = stats.Total, cleantext.OneLine(name, cleantext.MaxName)
		}
	}
	return model
}
