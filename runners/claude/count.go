package claude

import (
	"encoding/json"

	"relay/runners"
	"relay/runners/internal/eventstream"
	"relay/runners/internal/jsonscan"
)

// claudeStreams is the type of the events that tell a message piece by piece.
const claudeStreams = "stream_event"

const (
	maxMessages = 20_000 // ids remembered; what comes after is not counted
	claudeBase  = 12_000 // tokens of its own instructions and tools, about
)

// claudeCount adds up what messages have used. How much one has read is told when it begins, how much it has written when
// it ends: until then that is estimated from what it says.
type claudeCount struct {
	eventstream.Requests
	messages map[string]claudeWritten
	open     string // id of the one that is being written
}

// claudeWritten is what a message has written: as it was told, and as many characters as were seen of it.
type claudeWritten struct{ told, chars int64 }

func (w claudeWritten) tokens() int64 { return max(w.told, w.chars/eventstream.CharsPerToken) }

// begins takes in a message of which nothing but its beginning is there.
func (c *claudeCount) begins(m *claudeStart) {
	c.Pending = false
	if id := m.ID.Bytes(); c.reads(id, m.Usage) {
		c.open = string(id)
	}
}

// reads counts a message once, with what it has read. It returns whether it has.
func (c *claudeCount) reads(id []byte, usage json.RawMessage) bool {
	if _, seen := c.messages[string(id)]; seen || len(id) > 200 || len(c.messages) >= maxMessages || none(usage) {
		return false
	}
	if c.messages == nil {
		c.messages = map[string]claudeWritten{}
	}
	u := usageOfClaude(usage)
	c.messages[string(id)] = claudeWritten{told: u.OutputTokens}
	c.Report(u)
	return true
}

// writes counts characters of the message that is being written.
func (c *claudeCount) writes(chars int) {
	if c.open != "" {
		w := c.messages[c.open]
		w.chars += int64(chars)
		c.written(c.open, w)
	}
}

// ends takes in what a message has written in all.
func (c *claudeCount) ends(of jsonscan.String, usage json.RawMessage) {
	id := c.open
	if !of.Empty() {
		id = of.String()
	}
	if _, known := c.messages[id]; known && !none(usage) {
		c.written(id, claudeWritten{told: usageOfClaude(usage).OutputTokens})
		c.open = ""
	}
}

// message takes in a whole block of a message. Each repeats what the message has read; of a subagent's nothing else tells
// what it has written.
func (c *claudeCount) message(m *claudeMessage, subagent bool) {
	id := m.ID.Bytes()
	c.reads(id, m.Usage)
	w, known := c.messages[string(id)]
	if !known || !subagent {
		return
	}
	for i := range m.blocks {
		w.chars += int64(len(m.blocks[i].Text) + len(m.blocks[i].Input))
	}
	c.written(string(id), w)
}

func (c *claudeCount) written(id string, w claudeWritten) {
	more := w.tokens() - c.messages[id].tokens()
	c.messages[id] = w
	c.Reported.OutputTokens += more
}

func none(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func usageOfClaude(raw json.RawMessage) runners.Usage {
	var u claudeUsage
	_ = json.Unmarshal(raw, &u) // as far as it goes: see decode
	return u.usage()
}

func (u *claudeUsage) usage() runners.Usage {
	return runners.Usage{InputTokens: u.total(), CachedTokens: u.CacheRead, CacheWrites: u.CacheCreate, OutputTokens: u.Output}
}
