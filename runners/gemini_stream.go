package runners

import (
	"encoding/json"
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
	news    news
}

const maxCalls = 1000 // tools at work that are remembered by name

// line takes in one line of stdout. What is no JSON object, or of an unknown type, is noise and no fault.
func (s *geminiStream) line(line []byte) {
	line, ok := object(line)
	if !ok {
		return
	}
	var t geminiTurn
	if !t.read(line) {
		if ev, torn := decode[geminiEvent](line); !torn {
			s.event(ev)
		}
		return
	}
	switch string(t.kind) {
	case "message":
		s.message(t.role, t.content)
	case "tool_use":
		s.tool(t.tool, t.id, t.input)
	case "tool_result":
		s.answer(t.id, "")
	}
}

// event takes in an event that was decoded in full.
func (s *geminiStream) event(ev *geminiEvent) {
	switch ev.Type.string() {
	case "init":
		s.begun = true
		s.session = geminiSession(ev.SessionID, s.session)
		s.model = oneLine(ev.Model, maxKey)
		s.news.say(&s.req, EventSession, s.session)
	case "message":
		s.message(ev.Role, ev.Content)
	case "tool_use":
		s.tool(ev.Tool, ev.ToolID, ev.Input)
	case "tool_result":
		fault := ""
		if ev.Error != nil {
			fault = ev.Error.Type
		}
		s.answer(ev.ToolID, fault)
	case "error":
		s.looped = s.looped || ev.Severity == "warning" && ev.Message == "Loop detected, stopping execution"
		if ev.Severity == "error" {
			s.fault = truncate(ev.Message, maxString)
		}
	case "result":
		s.result, s.resumed = ev, false
		s.news.say(&s.req, EventResult, string(s.said[:min(len(s.said), eventHead)]))
	}
}

func (s *geminiStream) message(role, content jsonString) {
	if string(role.word()) != "assistant" {
		s.asking = true
		return
	}
	s.goesOn()
	s.said = content.ending(8*maxFinal + 1).append(s.said)
	if len(s.said) > 8*maxFinal { // a result stands at the end
		s.said = append(s.said[:0], s.said[len(s.said)-2*maxFinal:]...)
	}
	s.news.tell(&s.req, &note{kind: EventText, text: content})
}

func (s *geminiStream) tool(tool, id jsonString, input json.RawMessage) {
	s.goesOn()
	name := tool.string()
	switch name {
	case "write_file", "replace", "run_shell_command":
		s.wrote = true
	}
	if s.calls == nil {
		s.calls = map[string]string{}
	}
	if len(s.calls) < maxCalls {
		s.calls[id.head(maxKey)] = oneLine(name, maxKey)
	}
	s.news.tell(&s.req, &note{kind: EventTool, name: tool, input: input})
}

// answer takes in what a tool came to. What the agent said before it is not its final message.
func (s *geminiStream) answer(call jsonString, fault string) {
	id := call.head(maxKey)
	if fault == "policy_violation" {
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
	s.news.looked(&s.req)
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
