// Package sessions keeps the agents ledger: every conversation of an agent as rows of an SQLite database, message by message and tool
// call by tool call.
//
// Everything about that database belongs here: its four tables, the marks of its one writer, search, and the queries that commands print.
// Turning the output of an agent CLI into rows does not. The database is an index: the transcripts of attempts hold the same data, and a
// reader of them can fill it again from nothing.
package sessions

// The files of the agents ledger, in relay's folder.
const (
	File     = "agents-ledger.db"
	LockFile = "agents-ledger.lock"
)

// PromptSuffix ends the id of a message with which relay begins a stream.
const PromptSuffix = ":prompt"

// Session is one conversation with an agent. Empty texts and zero times and numbers of tokens are NULL in the database.
type Session struct {
	ID              string `json:"id"`                          // of the agent CLI; of a subagent "task-" and the id of the tool call that began it
	Source          string `json:"source"`                      // the name of the agent's CLI, as claude-code; required
	Model           string `json:"model,omitempty"`             // as the agent names it
	Project         string `json:"project,omitempty"`           // the repository's folder name
	CreatedAt       int64  `json:"created_at,omitempty"`        // milliseconds; Write makes it later than the parent's
	MessageCount    int64  `json:"message_count"`               // counted by Write, whatever is given
	ParentSession   string `json:"parent_session_id,omitempty"` // has to be in the ledger or in the same batch
	ParentMessage   string `json:"parent_message_id,omitempty"` // in which the subagent was begun
	ToolCall        string `json:"tool_call_id,omitempty"`      // that began the subagent
	TaskDescription string `json:"task_description,omitempty"`  // what a subagent was asked for
	TaskStatus      string `json:"task_status,omitempty"`       // of a subagent: completed, cancelled, failed
	IsSubagent      bool   `json:"is_subagent"`
	ContextLimit    int64  `json:"context_token_limit,omitempty"`
	ContextUsed     int64  `json:"context_tokens_used,omitempty"`
	IsAgentic       bool   `json:"is_agentic"`
	ForceMode       string `json:"force_mode,omitempty"`     // agent; of a reviewer ask
	Workspace       string `json:"workspace_path,omitempty"` // where the agent worked
	ContextJSON     string `json:"context_json,omitempty"`
	State           string `json:"conversation_state,omitempty"`
	RawJSON         string `json:"raw_json,omitempty"` // the first event of its stream
	Summary         string `json:"summary,omitempty"`
}

// The roles of messages.
const (
	User      = "user"
	Assistant = "assistant"
	System    = "system"
)

// Message is one message of a session.
type Message struct {
	ID              string `json:"id"`
	Session         string `json:"session_id"`
	Role            string `json:"role"`
	Content         string `json:"content"`             // unchanged; empty where an assistant only called tools
	Sequence        int64  `json:"sequence"`            // from 0; no two messages of a session have the same
	Timestamp       int64  `json:"timestamp,omitempty"` // milliseconds
	Checkpoint      string `json:"checkpoint_id,omitempty"`
	IsAgentic       bool   `json:"is_agentic"`
	IsPlanExecution bool   `json:"is_plan_execution"`
	ContextJSON     string `json:"context_json,omitempty"`
	RulesJSON       string `json:"cursor_rules_json,omitempty"`
	MetadataJSON    string `json:"metadata_json,omitempty"` // see Metadata
}

// Turn is one request and its answer. Its id is that of the message that answers.
type Turn struct {
	ID            string `json:"id"`
	Session       string `json:"session_id"`
	Parent        string `json:"parent_turn_id,omitempty"`    // the turn before, of a fork the turn it branches from; need not be in the ledger
	QueryMessages string `json:"query_message_ids,omitempty"` // a JSON array of ids
	Response      string `json:"response_message_id,omitempty"`
	Model         string `json:"model,omitempty"`
	Tokens        int64  `json:"token_count,omitempty"`
	Timestamp     int64  `json:"timestamp,omitempty"` // when it was complete, in milliseconds
	HasChildren   bool   `json:"has_children"`        // kept by Write, whatever is given
	ToolCalls     int64  `json:"tool_call_count"`
}

// Statuses of tool calls.
const (
	Completed = "completed"
	Cancelled = "cancelled" // still open when the process ended
	Failed    = "failed"
	Rejected  = "rejected" // not allowed
)

// ToolCall is one use of a tool.
type ToolCall struct {
	ID           string `json:"id"`
	Message      string `json:"message_id,omitempty"` // has to be in the ledger or in the same batch
	Session      string `json:"session_id"`
	Tool         string `json:"tool_name,omitempty"`
	Number       int64  `json:"tool_number"` // its place in the message, from 0
	ParamsJSON   string `json:"params_json,omitempty"`
	ResultJSON   string `json:"result_json,omitempty"`
	Status       string `json:"status,omitempty"`           // empty while it runs
	ChildSession string `json:"child_session_id,omitempty"` // the subagent it began; has to be in the ledger or in the same batch
	StartedAt    int64  `json:"started_at,omitempty"`
	CompletedAt  int64  `json:"completed_at,omitempty"`
}

// Mark says how far a stream has been read into the ledger.
type Mark struct {
	Stream string // what names it: the path of the transcript below relay's folder
	Offset int64  // of the first byte that has not been read
	State  string // whatever the reader needs to go on, at most 1 MiB
}

// Batch is what Write puts into the ledger at once. It may hold rows in any order.
type Batch struct {
	Sessions  []Session
	Messages  []Message
	Turns     []Turn
	ToolCalls []ToolCall
	Marks     []Mark
}
