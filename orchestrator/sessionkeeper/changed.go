package sessionkeeper

import (
	"cmp"
	"encoding/json"

	"relay/attempts/sessions"
	"relay/runners"
)

// changed is what has changed since it was last taken.
type changed struct {
	messages []*message
	calls    []*call
	turns    []sessions.Turn
	bytes    int
}

func (n *changed) touchCall(c *call) {
	if !c.dirty {
		c.dirty = true
		n.calls = append(n.calls, c)
	}
}

func (n *changed) touch(m *message) {
	if !m.dirty {
		m.dirty = true
		n.messages = append(n.messages, m)
	}
}

func (n *changed) spend(m *message, more runners.MessageUsage) {
	if more == (runners.MessageUsage{}) {
		return
	}
	if m.meta.Tokens == nil {
		m.meta.Tokens = &sessions.Tokens{}
	}
	m.meta.Tokens.Input += more.Input
	m.meta.Tokens.Output += more.Output
	m.meta.Relay.CostUSD += more.CostUSD
	s := m.session
	s.run.Input, s.run.Output, s.run.CostUSD = s.run.Input+more.Input, s.run.Output+more.Output, s.run.CostUSD+more.CostUSD
	s.turnTokens += more.Input + more.Output
	n.touch(m)
}

// closeTurn ends the turn of a session, if it has an answer.
func (n *changed) closeTurn(s *session) {
	if s.answer == nil {
		return
	}
	queries, _ := json.Marshal(append([]string{}, s.queries...)) // strings
	n.turns = append(n.turns, sessions.Turn{
		ID: s.answer.row.ID, Session: s.row.ID, Parent: s.lastTurn, QueryMessages: string(queries), Response: s.answer.row.ID,
		Model: cmp.Or(s.answer.model, s.row.Model), Tokens: s.turnTokens, Timestamp: s.turnEnd, ToolCalls: s.turnCalls,
	})
	s.lastTurn = s.answer.row.ID
	s.answer, s.queries, s.turnCalls, s.turnTokens = nil, nil, 0, 0
}

// over ends a subagent.
func (n *changed) over(s *session, status string) {
	s.row.TaskStatus, s.dirty, s.behind = status, true, false
	n.closeTurn(s)
}
