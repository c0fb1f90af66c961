package sessions

func (s *Session) values() []any {
	return []any{
		s.ID, s.Source, text(s.Model), text(s.Project), number(s.CreatedAt), text(s.ParentSession), text(s.ParentMessage), text(s.ToolCall),
		text(s.TaskDescription), text(s.TaskStatus), s.IsSubagent, number(s.ContextLimit), number(s.ContextUsed), s.IsAgentic,
		text(s.ForceMode), text(s.Workspace), text(s.ContextJSON), text(s.State), text(s.RawJSON), text(s.Summary),
	}
}

func (m *Message) values() []any {
	return []any{
		m.ID, m.Session, m.Role, m.Content, m.Sequence, number(m.Timestamp), text(m.Checkpoint), m.IsAgentic, m.IsPlanExecution,
		text(m.ContextJSON), text(m.RulesJSON), text(m.MetadataJSON),
	}
}

func (t *Turn) values() []any {
	return []any{
		t.ID, t.Session, text(t.Parent), text(t.QueryMessages), text(t.Response), text(t.Model), number(t.Tokens), number(t.Timestamp),
		t.ToolCalls,
	}
}

func (c *ToolCall) values() []any {
	return []any{
		c.ID, text(c.Message), c.Session, text(c.Tool), c.Number, text(c.ParamsJSON), text(c.ResultJSON), text(c.Status),
		text(c.ChildSession), number(c.StartedAt), number(c.CompletedAt),
	}
}

// text is a column's value: NULL for an empty text.
func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// number is a column's value: NULL for 0.
func number(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}
