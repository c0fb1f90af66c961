package runners

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// geminiStream folds the stream into what a report needs. It keeps no line.
type geminiStream struct {
	req  Request
	now  func() time.Time
	mode string

	begun   bool // init was seen
	heard   bool // the model has answered
	asking  bool // it waits for the model: nothing came since the prompt, or since the last tool's answer
	session string
	model   string
	said    []byte // the end of what the agent said since the last tool's answer
	looped  bool   // stopped by the CLI's own loop detection
	fault   string // the CLI's last error message
	wrote   bool   // used a tool that changes something
	result  *geminiEvent
	resumed bool              // it went on working after the result
	calls   map[string]string // tools at work, by the id of the call
	denied  string            // the last tool a policy refused
}

const maxCalls = 1000 // tools at work that are remembered by name

// line takes in one line of stdout. What is no JSON object, or of an unknown type, is noise and no fault.
func (s *geminiStream) line(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != '{' {
		return
	}
	var ev geminiEvent
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(line, &ev); err != nil && !errors.As(err, &wrongType) {
		return // torn, or not JSON; one field of another type than ours spoils no event
	}
	switch ev.Type {
	case "init":
		s.begun = true
		s.session = geminiSession(ev.SessionID, s.session)
		s.model = oneLine(ev.Model, maxKey)
		s.req.observe(EventSession, s.session)
	case "message":
		s.message(ev)
	case "tool_use":
		s.tool(ev)
	case "tool_result":
		s.answer(ev)
	case "error":
		s.looped = s.looped || ev.Severity == "warning" && ev.Message == "Loop detected, stopping execution"
		if ev.Severity == "error" {
			s.fault = truncate(ev.Message, maxString)
		}
	case "result":
		s.result, s.resumed = &ev, false
		s.req.observe(EventResult, string(s.said))
	}
}

func (s *geminiStream) message(ev geminiEvent) {
	if ev.Role != "assistant" {
		s.asking = true
		return
	}
	s.goesOn()
	s.said = append(s.said, ev.Content...)
	if len(s.said) > 8*maxFinal { // a result stands at the end
		s.said = append(s.said[:0], s.said[len(s.said)-2*maxFinal:]...)
	}
	s.req.observe(EventText, ev.Content)
}

func (s *geminiStream) tool(ev geminiEvent) {
	s.goesOn()
	switch ev.Tool {
	case "write_file", "replace", "run_shell_command":
		s.wrote = true
	}
	if s.calls == nil {
		s.calls = map[string]string{}
	}
	if len(s.calls) < maxCalls {
		s.calls[truncate(ev.ToolID, maxKey)] = oneLine(ev.Tool, maxKey)
	}
	s.req.observe(EventTool, ev.Tool+" "+mainArgument(ev.Input))
}

// answer takes in what a tool came to. What the agent said before it is not its final message.
func (s *geminiStream) answer(ev geminiEvent) {
	id := truncate(ev.ToolID, maxKey)
	if ev.Error != nil && ev.Error.Type == "policy_violation" {
		s.denied = s.calls[id]
	}
	delete(s.calls, id)
	s.asking = len(s.calls) == 0
	s.said = s.said[:0]
}

// goesOn notes that the model has answered.
func (s *geminiStream) goesOn() {
	s.heard, s.asking, s.resumed = true, false, s.result != nil
}

// mood tells the watcher when the agent is done. That waiting is in vain it cannot know: of the requests that it
// makes again and again the CLI tells on stderr only.
func (s *geminiStream) mood() mood {
	switch {
	case s.final():
		return finished
	case !s.heard:
		return unheard
	}
	return working
}

func (s *geminiStream) final() bool { return s.result != nil && !s.resumed }

// usage is told by the result alone.
func (s *geminiStream) usage() Usage {
	if s.result == nil || s.result.Stats == nil {
		return Usage{}
	}
	return s.result.Stats.usage()
}

// worked is the model that did most of the work: the one asked for may be a name for several ("auto").
func (s *geminiStream) worked() string {
	if s.result == nil || s.result.Stats == nil {
		return s.model
	}
	most, model := int64(0), s.model
	for name, stats := range s.result.Stats.Models {
		if stats.Total > most || stats.Total == most && most > 0 && name < model {
			most, model = stats.Total, oneLine(name, maxKey)
		}
	}
	return model
}
