package sessionkeeper

import (
	"encoding/json"
	"strings"
	"time"

	"relay/attempts/sessions"
	"relay/runners"
)

const (
	maxQuoted   = 200 // bytes of a line that cannot be read
	metaVersion = 3
	rowSize     = 500 // bytes of a row without its texts, about
)

// message is one message that may still grow.
type message struct {
	session *session
	row     sessions.Message
	meta    sessions.Metadata
	content strings.Builder
	model   string
	calls   int64 // number of the next one
	results []result
	dirty   bool
}

type result struct {
	ID     string `json:"id"`
	Name   string `json:"name,omitempty"`
	Status string `json:"status"`
}

// unread is a message about lines that cannot be read.
type unread struct {
	m     *message
	first Place
	lines int
}

func (a *Assembler) newMessage(s *session, id, role string, e runners.Message, at Place) *message {
	m := &message{session: s, model: e.Model}
	m.row = sessions.Message{
		ID: id, Session: s.row.ID, Role: role, Sequence: s.next, Timestamp: e.At, IsAgentic: role == sessions.Assistant,
	}
	m.meta = sessions.Metadata{
		Version: metaVersion, Type: 2, IsAgentic: m.row.IsAgentic,
		Relay: sessions.Origin{
			Run: a.about.Run, Task: a.about.Task, Attempt: a.about.Attempt, Round: a.stream.Round, Reviewer: a.about.Reviewer, Offset: at.Offset,
		},
	}
	if role == sessions.User {
		m.meta.Type = 1
	}
	if e.At > 0 {
		m.meta.CreatedAt = time.UnixMilli(e.At).UTC().Format("2006-01-02T15:04:05.000Z07:00")
	}
	a.changed.bytes += rowSize
	s.next++
	s.last, s.unread = m, nil
	if s.dirty = true; s.row.CreatedAt == 0 {
		s.row.CreatedAt = e.At
	}
	a.changed.touch(m)
	return m
}

func (m *message) take() sessions.Message {
	m.dirty = false
	m.row.Content = m.content.String()
	if len(m.results) > 0 {
		m.meta.ToolResults, _ = json.Marshal(m.results) // strings
	}
	m.row.MetadataJSON, _ = m.meta.JSON() // what was JSON before, and strings and numbers
	return m.row
}

func (a *Assembler) said(s *session, e runners.Message, at Place) {
	if e.Echo && a.asked {
		return // it stands there as what was asked
	}
	m := s.byID[e.ID]
	if e.ID == "" {
		m = nil
		if e.Joined && s.last != nil && s.last.row.Role == string(e.Role) {
			m = s.last
		}
	}
	if m == nil {
		m = a.newSaid(s, e, at)
	} else if e.Text != "" && !e.Joined && m.content.Len() > 0 {
		m.content.WriteString("\n\n")
	}
	m.content.WriteString(e.Text)
	a.changed.bytes += len(e.Text)
	a.changed.touch(m)
	if e.Role == runners.Assistant {
		s.answer, s.turnEnd = m, max(s.turnEnd, e.At)
		if s.row.Model == "" && e.Model != "" {
			s.row.Model, s.dirty = e.Model, true
		}
	}
}

// newSaid begins a message. One in the user's name begins a turn.
func (a *Assembler) newSaid(s *session, e runners.Message, at Place) *message {
	if e.Role == runners.User {
		a.changed.closeTurn(s)
	}
	m := a.newMessage(s, a.rowID(s, "message ", e.ID, e.Local, at), string(e.Role), e, at)
	if e.Role == runners.User {
		s.queries = append(s.queries, m.row.ID)
	}
	if e.ID != "" {
		s.byID[e.ID] = m
		if s.recent = append(s.recent, m); len(s.recent) > maxRecent {
			s.forgetOldest()
		}
	}
	return m
}

// forgetOldest takes the oldest message out of those that may grow.
func (s *session) forgetOldest() {
	oldest := s.recent[0]
	s.recent = s.recent[1:]
	for id, m := range s.byID {
		if m == oldest {
			delete(s.byID, id)
			return
		}
	}
}

// note puts down a message of relay's own about the stream.
func (a *Assembler) note(s *session, text string, at Place) *message {
	m := a.newMessage(s, a.rowID(s, "", "", false, at), sessions.System, runners.Message{At: at.Seen}, at)
	m.content.WriteString(text)
	a.changed.bytes += len(text)
	return m
}

// used takes in what a message has used, or without an id a whole run: what no message tells of came to the last answer.
func (a *Assembler) used(s *session, id string, u runners.MessageUsage) {
	if u.ContextLimit > 0 && s.row.ContextLimit != u.ContextLimit {
		s.row.ContextLimit, s.dirty = u.ContextLimit, true
	}
	if u.Context > 0 && s.row.ContextUsed != u.Context {
		s.row.ContextUsed, s.dirty = u.Context, true
	}
	if id != "" {
		if m := s.byID[id]; m != nil {
			a.changed.spend(m, less(u, m.spent()))
		}
		return
	}
	if u.SoFar {
		u, s.prior = less(u, s.prior), u
	}
	rest := less(u, s.run)
	s.run = runners.MessageUsage{}
	m := s.answer
	if m == nil {
		m = s.last
	}
	if m != nil {
		a.changed.spend(m, rest)
		s.run = runners.MessageUsage{}
	}
}

// less returns what is in u beyond before, and no less than nothing.
func less(u, before runners.MessageUsage) runners.MessageUsage {
	return runners.MessageUsage{
		Input: max(0, u.Input-before.Input), Output: max(0, u.Output-before.Output), CostUSD: max(0, u.CostUSD-before.CostUSD),
	}
}

func (m *message) spent() (u runners.MessageUsage) {
	if m.meta.Tokens != nil {
		u.Input, u.Output = m.meta.Tokens.Input, m.meta.Tokens.Output
	}
	u.CostUSD = m.meta.Relay.CostUSD
	return u
}
