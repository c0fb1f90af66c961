package sessionkeeper

import (
	"encoding/json"
	"slices"
	"strings"

	"relay/attempts/sessions"
	"relay/runners"
)

type call struct {
	session *session
	message *message
	row     sessions.ToolCall
	raw     string   // its id as the CLI gave it
	child   *session // the subagent that it began; nil: none
	open    bool
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
	a.changed.touchCall(c)
}

func (a *Assembler) newCall(s *session, e runners.Message, at Place) *call {
	m := s.byID[e.Message]
	if e.Message == "" || m == nil {
		if m = s.answer; m == nil {
			m = s.last
		}
	}
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
		a.close(oldest, sessions.Cancelled, nil, e.At)
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
	a.close(c, string(e.Status), e.Result, e.At)
}

// close ends a call, and the subagent that it began.
func (a *Assembler) close(c *call, status string, came json.RawMessage, at int64) {
	c.open = false
	c.row.Status, c.row.ResultJSON, c.row.CompletedAt = status, string(came), max(at, c.row.StartedAt)
	a.changed.bytes += len(came)
	c.session.turnEnd = max(c.session.turnEnd, at)
	if m := c.message; m != nil {
		m.results = append(m.results, result{c.row.ID, c.row.Tool, status})
		a.changed.touch(m)
	}
	if c.child == nil && c.row.Tool != "Task" && c.row.Tool != "Agent" { // a subagent may go on after its tool has returned
		delete(a.calls, c.raw)
	}
	if s := c.child; s != nil {
		s.row.TaskStatus, s.dirty = status, true
		if status == sessions.Rejected {
			s.row.TaskStatus = sessions.Failed
		}
		a.changed.closeTurn(s)
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
