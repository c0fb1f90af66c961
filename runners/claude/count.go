package claude

import (
	"encoding/json"

	"relay/runners"
	"relay/runners/internal/adapter"
)

// streamEventType is the type of the events that tell a message piece by piece.
const streamEventType = "stream_event"

const (
	maxMessages = 20_000 // ids remembered; what comes after is not counted
	baseTokens  = 12_000 // tokens of its own instructions and tools, about
)

// tokenCount adds up what messages have used. The CLI reports what one has read when it begins, and what it has written when
// it ends: until then relay estimates that from its text.
type tokenCount struct {
	messages map[string]written
	open     string // id of the one that is being written
}

// written is what a message has written: the tokens that the CLI reported, and the characters that relay saw.
type written struct{ reported, chars int64 }

func (w written) tokens() int64 { return max(w.reported, w.chars/adapter.CharsPerToken) }

// reads counts a message once, with what it has read. It returns whether it has.
func (c *tokenCount) reads(q *adapter.Requests, id string, usage json.RawMessage) bool {
	if _, seen := c.messages[id]; seen || len(id) > 200 || len(c.messages) >= maxMessages || none(usage) {
		return false
	}
	if c.messages == nil {
		c.messages = map[string]written{}
	}
	u := usageOfClaude(usage)
	c.messages[id] = written{reported: u.OutputTokens}
	q.Report(u)
	return true
}

// messageEnded counts what a message has written in all.
func (c *tokenCount) messageEnded(q *adapter.Requests, of adapter.JSONString, usage json.RawMessage) {
	id := c.open
	if !of.Empty() {
		id = of.String()
	}
	if _, ok := c.messages[id]; ok && !none(usage) {
		c.written(q, id, written{reported: usageOfClaude(usage).OutputTokens})
		c.open = ""
	}
}

// message counts a whole block of a message. Each repeats what the message has read; of a subagent's nothing else tells
// what it has written.
func (c *tokenCount) message(q *adapter.Requests, m *message, subagent bool) {
	id := m.ID.String()
	c.reads(q, id, m.Usage)
	w, ok := c.messages[id]
	if !ok || !subagent {
		return
	}
	for i := range m.blocks {
		w.chars += int64(len(m.blocks[i].Text) + len(m.blocks[i].Input))
	}
	c.written(q, id, w)
}

func (c *tokenCount) written(q *adapter.Requests, id string, w written) {
	more := w.tokens() - c.messages[id].tokens()
	c.messages[id] = w
	q.Reported.OutputTokens += more
}

func none(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func usageOfClaude(raw json.RawMessage) runners.Usage {
	var u tokenUsage
	_ = json.Unmarshal(raw, &u) // as far as it goes: see decode
	return u.usage()
}

func (u *tokenUsage) usage() runners.Usage {
	return runners.Usage{InputTokens: u.total(), CachedTokens: u.CacheRead, CacheWrites: u.CacheCreate, OutputTokens: u.Output}
}
