package runners

import (
	"encoding/json"
	"time"
)

// MessageKind says what an event tells.
type MessageKind int

// The kinds of events.
const (
	Began    MessageKind = iota + 1 // a session: ID, Model
	Said                            // a message or a further part of one: ID, Role, Text, Model
	Called                          // a tool call: ID, Message, Tool, Params; told again, it says more of the same call
	Returned                        // its end: ID, Status, Result
	Used                            // tokens and money: ID of the message, or of the whole run of the CLI
	Reached                         // the end of a subagent in the background: Subtask, Status
)

// Role says who speaks.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	System    Role = "system" // the CLI itself
)

// ActionStatus says what became of a tool call.
type ActionStatus string

// How tool calls end, by the word of their CLI.
const (
	ActionCompleted ActionStatus = "completed"
	ActionFailed    ActionStatus = "failed"
	Rejected        ActionStatus = "rejected" // not allowed
	ActionCancelled ActionStatus = "cancelled"
)

// Message is one thing that a line of a stream tells.
type Message struct {
	Kind    MessageKind
	Subtask string // id of the tool call whose subagent this is about; "": the session itself
	At      int64  // milliseconds since 1970; 0: the CLI does not tell
	ID      string // of the session, message or tool call; "": it has none
	Local   bool   // every run of the CLI starts with the same ids
	Model   string // "": it is not told
	Dir     string // Began: where the agent works; "": it is not told

	Role   Role
	Text   string
	Joined bool // the text goes on with the message before, without a break
	Echo   bool // it is what the CLI was asked, told back

	Message string // id of the message that calls the tool; "": the last one
	Tool    string
	Params  json.RawMessage
	Status  ActionStatus
	Result  json.RawMessage
	Started bool // Returned: the call has only started a subagent, which goes on in the background

	Usage MessageUsage
}

// MessageUsage is what a message or a run has used of the model. Zero: it is not told.
type MessageUsage struct {
	Input, Output int64 // tokens; Input with those read from and written to a cache
	CostUSD       float64
	SoFar         bool  // of the session in all, not of this run alone
	Context       int64 // tokens of the context that are taken now
	ContextLimit  int64 // tokens that fit
}

// MessageReader turns the lines of one run of a CLI into events.
type MessageReader interface {
	// Line reads one line without its end, which it does not keep, and tells what it says. It returns false for a line that cannot be
	// read; an empty one, and one that tells nothing of the conversation, can.
	Line(line []byte, tell func(Message)) bool
}

// Millis reads a time as CLIs write it; 0: it is none.
func Millis(text string) int64 {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.UnixMilli() < 0 {
		return 0
	}
	return t.UnixMilli()
}
