package runners

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// claudeStream folds the stream into what a report needs. It keeps no line.
type claudeStream struct {
	req Request
	now func() time.Time

	begun    bool // system/init was seen
	heard    bool // the model has answered
	torn     bool // the last line is half of one
	session  string
	model    string
	said     string // last text of the agent itself
	result   *claudeResult
	subtype  string           // of the result: success, error_max_turns, …
	resumed  bool             // it went on working after the result
	retry    *claudeEvent     // the provider's last fault that the CLI is waiting out
	apiError string           // the CLI's word for the fault it gave up on
	limit    *claudeRateLimit // the usage limit that was hit
	running  steps
	called   map[string]int      // calls by tool
	denied   map[string]int      // and those that were not allowed
	messages map[string]struct{} // ids whose usage is counted
	spent    Usage               // counted from messages, for a run that ends without a result
}

const maxMessages = 20_000 // ids remembered; what comes after is not counted

// line takes in one line of stdout. What is no JSON object, or of an unknown type, is noise and no fault.
func (s *claudeStream) line(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != '{' {
		return
	}
	var ev claudeEvent
	var wrongType *json.UnmarshalTypeError
	err := json.Unmarshal(line, &ev)
	if s.torn = err != nil && !errors.As(err, &wrongType); s.torn {
		return // or not JSON; one field of another type than ours spoils no event
	}
	switch ev.Type {
	case "system":
		s.system(ev)
	case "assistant":
		s.assistant(ev)
	case "user":
		s.user(ev)
	case "rate_limit_event":
		s.rateLimit(ev.RateLimit)
	case "result":
		s.session = sessionID(ev.SessionID, s.session)
		s.result, s.subtype, s.resumed = &ev.claudeResult, ev.Subtype, false
		s.req.observe(EventResult, ev.Result)
	}
}

func (s *claudeStream) system(ev claudeEvent) {
	switch ev.Subtype {
	case "init":
		s.begun = true
		s.session = sessionID(ev.SessionID, s.session)
		s.model = oneLine(ev.Model, maxKey)
		s.req.observe(EventSession, s.session)
	case "api_retry":
		s.retry = &ev
		s.req.observe(EventRetry, fmt.Sprintf("%s; asks again in %.0f s (%d of %d)",
			providerFault(ev.ErrorStatus, word(ev.Error)), ev.RetryDelayMS/1000, ev.Attempt, ev.MaxRetries))
	case "model_fallback":
		s.model = oneLine(ev.Fallback, maxKey)
	case "permission_denied":
		if s.denied == nil {
			s.denied = map[string]int{}
		}
		count(s.denied, ev.Tool)
	}
}

func (s *claudeStream) assistant(ev claudeEvent) {
	if ev.IsAPIError { // written by the CLI in the agent's name: the text in it is for people
		s.apiError = word(ev.Error)
		return
	}
	s.heard = true
	s.retry, s.apiError, s.limit = nil, "", nil
	s.resumed = s.result != nil
	var msg claudeMessage
	var blocks []claudeBlock
	_ = json.Unmarshal(ev.Message, &msg) // as far as it goes: see line
	_ = json.Unmarshal(msg.Content, &blocks)
	s.count(msg)
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Text != "":
			if ev.Parent == nil { // a subagent's words are not the answer
				s.said = truncate(b.Text, 2*maxFinal)
			}
			s.req.observe(EventText, b.Text)
		case b.Type == "tool_use":
			if s.called == nil {
				s.called = map[string]int{}
			}
			count(s.called, b.Name)
			s.running.begin(b.ID)
			s.req.observe(EventTool, b.Name+" "+mainArgument(b.Input))
		}
	}
}

// user takes in the results of tools.
func (s *claudeStream) user(ev claudeEvent) {
	var msg claudeMessage
	var blocks []claudeBlock
	_ = json.Unmarshal(ev.Message, &msg) // as far as it goes: see line
	_ = json.Unmarshal(msg.Content, &blocks)
	for _, b := range blocks {
		if b.Type == "tool_result" {
			s.running.end(b.Ends)
		}
	}
}

// count adds a message's usage once: each of its content blocks is an event that repeats it.
func (s *claudeStream) count(msg claudeMessage) {
	if _, seen := s.messages[msg.ID]; seen || msg.Usage == nil || len(s.messages) >= maxMessages || len(msg.ID) > 200 {
		return
	}
	if s.messages == nil {
		s.messages = map[string]struct{}{}
	}
	s.messages[msg.ID] = struct{}{}
	s.spent.InputTokens += msg.Usage.total()
	s.spent.CachedTokens += msg.Usage.CacheRead
	s.spent.OutputTokens += msg.Usage.Output
}

func (s *claudeStream) rateLimit(info *claudeRateLimit) {
	if info != nil && info.Status == "rejected" {
		s.limit = info
	} else {
		s.limit = nil
	}
}

// mood tells the watcher when the agent is done, and when waiting for it is in vain: the CLI asks again for minutes
// after a refused login. One refusal may be an access token that it is just renewing.
func (s *claudeStream) mood() mood {
	switch {
	case s.final():
		return finished
	case s.retry != nil && s.retry.Attempt >= 2 && blame(s.retry.ErrorStatus, word(s.retry.Error)) == Auth:
		return hopeless
	case !s.heard:
		return unheard
	}
	return working
}

func (s *claudeStream) modelName() string { return s.model }

func (s *claudeStream) final() bool { return s.result != nil && !s.resumed }

// sessionPattern, with maxSession, keeps what comes back as an argument of --resume from being a flag or anything else.
var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

const maxSession = 128

func sessionID(id, otherwise string) string {
	if len(id) <= maxSession && sessionPattern.MatchString(id) {
		return id
	}
	return otherwise
}

// word reads a JSON string that names something; anything else is no name.
func word(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return oneLine(s, maxKey)
}

// mainArgument picks what a person wants to see of a tool's input.
func mainArgument(input json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, key := range []string{"command", "file_path", "path", "pattern", "url", "query", "description"} {
		if s := word(args[key]); s != "" {
			return s
		}
	}
	return ""
}
