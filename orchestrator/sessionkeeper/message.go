package sessionkeeper

import (
	"cmp"
	"encoding/json"
	"slices"
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
	raw     string // its id as the CLI gave it
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

func (a *Assembler) newMessage(s *session, id, role string, e runners.Message, at Place) *message {
	m := &message{session: s, raw: e.ID, model: e.Model}
	m.row = sessions.Message{
		ID: id, Session: s.row.ID, Role: role, Sequence: s.next, Timestamp: e.At, IsAgentic: role == sessions.Assistant,
	}
	m.meta = sessions.Metadata{
		Version: metaVersion, Type: 2, IsAgentic: m.row.IsAgentic,
		Relay: sessions.Origin{
			Run: a.about.Run, Task: a.about.Task, Attempt: a.about.Attempt, Round: a.stream.Round, Agent: a.about.Agent,
			Reviewer: a.about.Reviewer, Offset: at.Offset,
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
	s.last, s.unread = m, false
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
	m := s.find(e.ID)
	if e.ID == "" && e.Joined && s.last != nil && s.last.row.Role == string(e.Role) {
		m = s.last
	}
	if m == nil {
		m = a.newSaid(s, e, at)
	} else if e.Text != "" && !e.Joined && m.content.Len() > 0 {
		m.content.WriteString("\n\n")
	}
	m.content.WriteString(e.Text)
	a.changed.bytes += len(e.Text)
	if f := e.Editor; f != nil {
		m.row.Checkpoint, m.row.IsPlanExecution = f.Checkpoint, f.PlanStep
		m.row.ContextJSON, m.row.RulesJSON = string(f.Context), string(f.Rules)
		m.meta.BubbleID, m.meta.More = &e.ID, f.More
		_ = json.Unmarshal(f.More["isAgentic"], &m.row.IsAgentic) // or it is missing
		m.meta.IsAgentic = m.row.IsAgentic
		a.changed.bytes += len(at.Line)
	}
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
		s.recent = append(s.recent[max(len(s.recent)-maxRecent+1, 0):], m)
	}
	return m
}

// find returns the message of this stream that has an id; nil: there is none that may grow.
func (s *session) find(id string) *message {
	if i := slices.IndexFunc(s.recent, func(m *message) bool { return m.raw == id }); i >= 0 {
		return s.recent[i]
	}
	return nil
}

// note puts down a message of relay's own about the stream.
func (a *Assembler) note(s *session, text string, at Place) {
	m := a.newMessage(s, a.rowID(s, "", "", false, at), sessions.System, runners.Message{At: at.Seen}, at)
	m.content.WriteString(text)
	a.changed.bytes += len(text)
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
		if m := s.find(id); m != nil {
			a.changed.spend(m, less(u, m.spent()))
		}
		return
	}
	if u.SoFar {
		u, s.prior = less(u, s.prior), u
	}
	rest := less(u, s.run)
	s.run = runners.MessageUsage{}
	if m := cmp.Or(s.answer, s.last); m != nil {
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

type call struct {
	session *session
	message *message
	row     sessions.ToolCall
	raw     string   // its id as the CLI gave it
	child   *session // the subagent that it began; nil: none
	open    bool
	outcome string // of the subagent
	dirty   bool
}

func (a *Assembler) called(s *session, e runners.Message, at Place) {
	c := a.calls[e.ID]
	if c == nil || !c.open {
		c = a.newCall(s, e, at)
	}
	if e.Tool != "" {
		c.row.Tool = e.Tool
	}
	if len(e.Params) > 0 {
		c.row.ParamsJSON = string(e.Params)
		a.changed.bytes += len(e.Params)
		if todos := todosOf(c.row.Tool, e.Params); todos != nil && c.message != nil {
			c.message.meta.Todos = todos
			a.changed.touch(c.message)
		}
	}
	if child := a.children[e.ID]; child != nil && c.child == nil { // what it said came first
		a.changed.link(child, c)
	}
	a.changed.touchCall(c)
}

func (a *Assembler) newCall(s *session, e runners.Message, at Place) *call {
	m := cmp.Or(s.find(e.Message), s.answer, s.last)
	c := &call{session: s, message: m, raw: e.ID, open: true}
	c.row = sessions.ToolCall{ID: a.rowID(s, "call ", e.ID, e.Local, at), Session: s.row.ID, StartedAt: e.At}
	if m != nil {
		c.row.Message, c.row.Number = m.row.ID, m.calls
		m.calls++
	}
	a.calls[e.ID] = c
	a.changed.bytes += rowSize
	s.calls++
	s.turnCalls++
	s.turnEnd = max(s.turnEnd, e.At)
	if s.open = append(s.open, c); len(s.open) > maxOpen {
		oldest := s.open[0]
		s.open = s.open[1:]
		a.close(oldest, sessions.Cancelled, runners.Message{At: e.At})
	}
	return c
}

// returned takes in the end of a call. One that is not known, as its beginning is missing from the stream, is a call all the same.
func (a *Assembler) returned(s *session, e runners.Message, at Place) {
	c := a.calls[e.ID]
	if c == nil {
		c = a.newCall(s, e, at)
		c.row.StartedAt = 0
	}
	if i := slices.Index(c.session.open, c); i >= 0 {
		c.session.open = slices.Delete(c.session.open, i, i+1)
	}
	a.close(c, string(e.Status), e)
}

// close ends a call, and the subagent that it began.
func (a *Assembler) close(c *call, status string, e runners.Message) {
	c.open = false
	c.row.Status, c.row.ResultJSON, c.row.CompletedAt = status, string(e.Result), max(e.At, c.row.StartedAt)
	a.changed.bytes += len(e.Result)
	c.session.turnEnd = max(c.session.turnEnd, e.At)
	if m := c.message; m != nil {
		m.results = append(m.results, result{c.row.ID, c.row.Tool, status})
		a.changed.touch(m)
	}
	// A subagent may go on after its tool has returned.
	if c.child == nil && !slices.Contains([]string{"task", "agent", "task_v2"}, strings.ToLower(c.row.Tool)) {
		delete(a.calls, c.raw)
	}
	if !e.GoesOn {
		if settle(c, c.child, status); c.child != nil {
			a.changed.closeTurn(c.child)
		}
	}
	a.changed.touchCall(c)
}

// todosOf returns the list that a call of a tool for lists of things to do has; nil: it is none.
func todosOf(tool string, params json.RawMessage) json.RawMessage {
	name := strings.ReplaceAll(strings.ToLower(tool), "_", "")
	if !slices.Contains([]string{"todowrite", "writetodos", "todolist"}, name) {
		return nil
	}
	var p struct{ Todos, Items json.RawMessage }
	_ = json.Unmarshal(params, &p) // what is there
	if p.Todos == nil {
		return p.Items
	}
	return p.Todos
}
