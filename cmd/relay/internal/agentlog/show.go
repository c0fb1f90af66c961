package agentlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"relay/attempts/sessions"
	"relay/epic/plaintext"
)

// ShowOptions say which part of a conversation is shown, and how.
type ShowOptions struct {
	Session string // may be shortened
	Turn    int    // only this one, from 1; 0: all
	Events  bool   // what was said, turn by turn, without tool calls
	Raw     bool   // whole texts, with secrets unless they go to a terminal
}

// How much is shown.
const (
	pageSize     = 100     // messages that are read at once
	maxContent   = 8 << 10 // bytes of a message
	maxParams    = 200     // bytes
	maxResult    = 800     // bytes
	maxNested    = 3       // levels of subagents
	nestedLength = 20      // messages of a subagent
)

type conversation struct {
	Session  sessions.Session `json:"session"`
	From     int64            `json:"from"` // sequence number of the first message
	Messages []sessions.Said  `json:"messages"`
}

// Show prints a conversation in order.
func (v *SessionView) Show(ctx context.Context, o ShowOptions) error {
	s, err := v.Ledger.Find(ctx, o.Session)
	if err != nil {
		return err
	}
	if o.Events {
		return v.events(ctx, &s, o)
	}
	part := sessions.Part{}
	if o.Turn > 0 {
		e, err := v.Ledger.Exchange(ctx, s.ID, o.Turn)
		if err != nil {
			return err
		}
		part.From, part.To = e.From, e.To
	}
	if !v.JSON {
		return newWriter(v, &s, o).messages(ctx, &s, part)
	}
	list, err := v.Ledger.Conversation(ctx, s.ID, part)
	if err != nil {
		return err
	}
	return v.printJSON(&conversation{Session: s, From: part.From, Messages: append([]sessions.Said{}, list...)})
}

type writer struct {
	view *SessionView
	out  io.Writer
	raw  bool
}

func newWriter(v *SessionView, s *sessions.Session, o ShowOptions) *writer {
	w := &writer{view: v, out: v.App.Out, raw: o.Raw}
	if o.Raw {
		w.out = v.App.Raw()
	}
	if !v.JSON {
		title(w, s, "")
	}
	return w
}

func title(w *writer, s *sessions.Session, indent string) {
	fmt.Fprintf(w.out, "%ssession %s: %s\n", indent, w.view.line(s.ID), w.view.line(about(s, sessions.Origin{})))
}

// messages prints what was asked for.
func (w *writer) messages(ctx context.Context, s *sessions.Session, part sessions.Part) error {
	part.Most = pageSize + 1
	for {
		list, err := w.view.Ledger.Conversation(ctx, s.ID, part)
		if err != nil {
			return err
		}
		for i := range list[:min(len(list), pageSize)] {
			if err := w.message(ctx, &list[i], "", 0); err != nil {
				return err
			}
		}
		if len(list) <= pageSize {
			return w.loose(ctx, s, part)
		}
		part.From = list[pageSize].Sequence
	}
}

// loose prints the tool calls that belong to no message and the subagents that no tool call names, at the end of a conversation.
func (w *writer) loose(ctx context.Context, s *sessions.Session, part sessions.Part) error {
	if part.To > 0 {
		return nil
	}
	calls, subagents, err := w.view.Ledger.Loose(ctx, s.ID)
	for i := range calls {
		if err == nil {
			err = w.call(ctx, &calls[i], "", 0)
		}
	}
	for i := range subagents {
		if err == nil {
			fmt.Fprintln(w.out)
			err = w.subagent(ctx, subagents[i].ID, "  | ", 1)
		}
	}
	return err
}

func (w *writer) message(ctx context.Context, m *sessions.Said, indent string, depth int) error {
	fmt.Fprintf(w.out, "\n%s[%d] %s %s\n", indent, m.Sequence, m.Role, when(m.Timestamp))
	if m.Content != "" {
		w.block(m.Content, maxContent, indent)
	}
	for i := range m.Calls {
		if err := w.call(ctx, &m.Calls[i], indent, depth); err != nil {
			return err
		}
	}
	return nil
}

// call prints a tool call with its result, and the subagent that it began.
func (w *writer) call(ctx context.Context, c *sessions.ToolCall, indent string, depth int) error {
	line := plaintext.FirstOf(c.Tool, "a tool") + " " + plaintext.FirstOf(c.Status, "running")
	if c.StartedAt > 0 && c.CompletedAt > c.StartedAt {
		line += fmt.Sprintf(" %.1f s", float64(c.CompletedAt-c.StartedAt)/1000)
	}
	fmt.Fprintf(w.out, "%s> %s\n", indent, w.view.line(line))
	if c.ParamsJSON != "" {
		w.block(Readable(c.ParamsJSON), maxParams, indent+"  ")
	}
	if c.ResultJSON != "" {
		fmt.Fprintf(w.out, "%s  result:\n", indent)
		w.block(Readable(c.ResultJSON), maxResult, indent+"  ")
	}
	if c.ChildSession == "" || depth >= maxNested {
		return nil
	}
	return w.subagent(ctx, c.ChildSession, indent+"  | ", depth+1)
}

// subagent prints the beginning of what a subagent has said, at the place where it was begun.
func (w *writer) subagent(ctx context.Context, id, indent string, depth int) error {
	s, err := w.view.Ledger.Find(ctx, id)
	if err != nil {
		return err
	}
	list, err := w.view.Ledger.Conversation(ctx, s.ID, sessions.Part{Most: nestedLength + 1})
	if err != nil {
		return err
	}
	title(w, &s, indent)
	for i := range list[:min(len(list), nestedLength)] {
		if err := w.message(ctx, &list[i], indent, depth); err != nil {
			return err
		}
	}
	if len(list) > nestedLength {
		fmt.Fprintf(w.out, "%s… relay sessions show %s goes on\n", indent, s.ID)
	}
	return nil
}

// block prints a text of several lines, not more of it than most bytes unless all is wanted.
func (w *writer) block(s string, most int, indent string) {
	rest := 0
	if !w.raw {
		s = w.view.clean(s)
		cut := plaintext.Head(s, most)
		s, rest = cut, len(s)-len(cut)
	}
	for line := range strings.Lines(strings.TrimSuffix(s, "\n") + "\n") {
		fmt.Fprintf(w.out, "%s%s", indent, line)
	}
	if rest > 0 {
		fmt.Fprintf(w.out, "%s… %d bytes more; --raw prints them\n", indent, rest)
	}
}

// Readable is a JSON value as it is shown: a text without its quotes, the texts of a list of content blocks, all else in one line.
func Readable(value string) string {
	var s string
	if json.Unmarshal([]byte(value), &s) == nil {
		return s
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(value), &blocks) == nil {
		for _, b := range blocks {
			if b.Type == "text" {
				s += b.Text + "\n"
			}
		}
		if s != "" {
			return strings.TrimSuffix(s, "\n")
		}
	}
	var line bytes.Buffer
	if json.Compact(&line, []byte(value)) == nil {
		return line.String()
	}
	return value
}
