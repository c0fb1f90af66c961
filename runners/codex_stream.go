package runners

import (
	"bytes"
	"strings"
	"time"
)

// codexStream folds the stream into what a report needs. It keeps no line.
type codexStream struct {
	req Request
	now func() time.Time

	begun   bool // thread.started was seen
	heard   bool // the model has answered
	torn    bool // the last line is half of one
	session string
	said    said   // last message of the agent
	step    []byte // id of the step last told to the observer
	running steps
	steps   int // commands and changes of files that have ended
	vain    int // those of them that failed

	done    bool        // turn.completed
	failed  string      // what turn.failed says
	fault   string      // the CLI's last word on what went wrong, which need not be the end
	retry   string      // the provider's fault that the CLI is waiting out
	waits   int         // how often in a row it has waited for the network: it does so for ever
	refused int         // how often in a row the provider refused its login
	total   *codexUsage // of the session
	news    news
}

// A network that is gone for so many waits, some five minutes, is better waited for by relay, which can ask another
// provider.
const maxWaits = 8

// line takes in one line of stdout. What is no JSON object, or of an unknown type, is noise and no fault.
func (s *codexStream) line(line []byte) {
	line, ok := object(line)
	if !ok {
		return
	}
	var t codexTurn
	if !t.read(line) {
		s.event(line)
		return
	}
	s.torn = false
	switch {
	case t.step:
		s.item(string(t.kind) == codexStepDone, &t.item)
	case string(t.kind) == codexBegins:
		s.begins()
	}
}

// event takes in a line that is decoded in full.
func (s *codexStream) event(line []byte) {
	ev, torn := decode[codexEvent](line)
	if s.torn = torn; torn {
		return
	}
	switch kind := ev.Type.string(); kind {
	case "thread.started":
		s.begun = true
		s.session = sessionID(ev.ThreadID, s.session)
		s.news.say(&s.req, EventSession, s.session)
	case codexBegins:
		s.begins()
	case "error":
		s.trouble(ev.Message)
	case "item.started", "item.updated", codexStepDone:
		s.item(kind == codexStepDone, &ev.Item)
	case "turn.completed":
		s.answered()
		s.done, s.total = true, ev.Usage
		s.news.say(&s.req, EventResult, s.words())
	case "turn.failed":
		s.failed = cleanFault(ev.Error.Message)
		s.news.say(&s.req, EventResult, s.failed)
	}
}

// begins takes in that a turn begins.
func (s *codexStream) begins() { s.done, s.failed = false, "" }

// item takes in a step. One of type error is the CLI's own, and comes before the model has said anything.
func (s *codexStream) item(completed bool, item *codexItem) {
	switch kind := string(item.Type.word()); kind {
	case "", "error":
		return
	case "agent_message":
		s.answered()
		if completed && !item.Text.empty() {
			s.said.set(item.Text, maxResult)
			s.news.tell(&s.req, &note{kind: EventText, text: item.Text})
		}
	case "reasoning", "todo_list":
		s.answered()
	default:
		s.answered()
		if completed {
			s.running.end(item.ID)
		} else {
			s.running.begin(item.ID)
		}
		if completed && (kind == "command_execution" || kind == "file_change") {
			s.steps++
			if string(item.Status.word()) == "failed" {
				s.vain++
			}
		}
		if id := item.ID.bytes(); len(s.step) == 0 || !bytes.Equal(id, s.step) {
			s.step = append(s.step[:0], id[:min(len(id), maxKey)]...)
			step := item.note()
			s.news.tell(&s.req, &step)
		}
	}
}

// answered notes that the model was heard: what it had to be asked for again is over.
func (s *codexStream) answered() {
	s.heard = true
	s.fault, s.retry, s.waits, s.refused = "", "", 0, 0
}

// trouble takes in an error that the CLI tells. "Reconnecting... 2/5 (why)" and "Reconnecting... waiting for network
// (why)" mean that it asks again.
func (s *codexStream) trouble(message string) {
	message = cleanFault(message)
	again, found := strings.CutPrefix(message, "Reconnecting...")
	if !found {
		s.fault = message
		return
	}
	how, why, _ := strings.Cut(again, "(")
	s.retry = strings.TrimSuffix(why, ")")
	if strings.TrimSpace(how) == "waiting for network" {
		s.waits++
	}
	if o, _ := codexFault(s.retry); o == Auth {
		s.refused++
	} else {
		s.refused = 0
	}
	s.news.say(&s.req, EventRetry, message)
}

// mood tells the watcher when the agent is done, and when waiting for it is in vain. One refused login may be an
// access token that it is just renewing.
func (s *codexStream) mood() mood {
	s.news.looked(&s.req)
	switch {
	case s.final():
		return finished
	case s.refused >= 2, s.waits >= maxWaits:
		return hopeless
	case !s.heard:
		return unheard
	}
	return working
}

func (s *codexStream) final() bool { return s.done || s.failed != "" }

// usage is this run's part: codex counts a session as a whole, and tells it only at the end of a good run. What a
// failed run has used is so counted to the next of its session. A count below the earlier one has begun anew.
func (s *codexStream) usage() Usage {
	if s.total == nil {
		return Usage{}
	}
	u := Usage{InputTokens: s.total.Input, CachedTokens: s.total.Cached, OutputTokens: s.total.Output}
	if before := s.req.Spent; before.InputTokens <= u.InputTokens && before.OutputTokens <= u.OutputTokens {
		u.InputTokens -= before.InputTokens
		u.CachedTokens = max(0, u.CachedTokens-before.CachedTokens)
		u.OutputTokens -= before.OutputTokens
	}
	return Usage{InputTokens: max(0, u.InputTokens), CachedTokens: max(0, u.CachedTokens), OutputTokens: max(0, u.OutputTokens)}
}

// words are the last message of the agent.
func (s *codexStream) words() string { return s.said.words(maxResult) }
