package sessions

import (
	"encoding/json"
	"maps"
)

// Metadata is what a message's metadata_json holds. The names are those of the format; relay's own facts are under "relay".
type Metadata struct {
	Version     int             `json:"_v"`   // 3
	Type        int             `json:"type"` // 1 a person's or relay's message, 2 an agent's
	BubbleID    *string         `json:"bubbleId"`
	CreatedAt   string          `json:"createdAt,omitempty"` // RFC 3339
	Tokens      *Tokens         `json:"tokenCount,omitempty"`
	Todos       json.RawMessage `json:"todos,omitempty"`       // of the last call of a todo tool
	ToolResults json.RawMessage `json:"toolResults,omitempty"` // an array
	IsAgentic   bool            `json:"isAgentic"`
	Relay       Origin          `json:"relay"`

	More map[string]json.RawMessage `json:"-"` // fields of an editor's message, besides those above
}

// Tokens are those of one message; those of a session are the sum.
type Tokens struct {
	Input  int64 `json:"inputTokens"`
	Output int64 `json:"outputTokens"`
}

// Origin says where in a run a message comes from. Sessions are listed, and costs added up, by the origins of their messages: what a
// session has cost is the sum of its messages' costs, and no cost is at two messages.
type Origin struct {
	Run      string  `json:"run,omitempty"`
	Task     string  `json:"task,omitempty"` // empty in a review of the whole epic
	Attempt  int     `json:"attempt,omitempty"`
	Round    int     `json:"round,omitempty"` // of fixes, or of the reviewer
	Agent    string  `json:"agent,omitempty"` // its name in the configuration
	Reviewer string  `json:"reviewer,omitempty"`
	Offset   int64   `json:"offset"`             // of the line in its stream
	CostUSD  float64 `json:"cost_usd,omitempty"` // what came to this message
}

// JSON writes the metadata as metadata_json holds it.
func (m Metadata) JSON() (string, error) {
	text, err := json.Marshal(m)
	if err == nil && len(m.More) > 0 {
		all := maps.Clone(m.More)
		_ = json.Unmarshal(text, &all) // it was just written
		text, err = json.Marshal(all)
	}
	return string(text), err
}
