package agentlog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"relay/attempts/sessions"
	"relay/cmd/relay/internal/terminal"
	"relay/runners"
)

// ShowOptions say which part of a conversation is shown, and how.
type ShowOptions struct {
	Session string // may be shortened
	Turn    int    // only this one, from 1; 0: all
	Events  bool   // what was said, without tool calls
	Raw     bool   // whole texts, with secrets unless they go to a terminal
}

// How much is shown.
const (
	pageSize     = 100 // messages that are read at once
	maxNested    = 3   // levels of subagents
	nestedLength = 20  // messages of a subagent
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
	part := sessions.Part{Spoken: o.Events}
	if o.Turn > 0 {
		e, err := v.Ledger.Exchange(ctx, s.ID, o.Turn)
		if err != nil {
			return err
		}
		part.From, part.To = e.From, e.To
	}
	if v.JSON {
		list, err := v.Ledger.Conversation(ctx, s.ID, part)
		if err != nil {
			return err
		}
		return v.printJSON(&conversation{Session: s, From: part.From, Messages: append([]sessions.Said{}, list...)})
	}
	w := &writer{view: v, out: v.App.Out, paint: v.App.Out.Palette}
	w.stream = stream{raw: o.Raw, clean: v.App.Secrets.Text, open: map[string]bool{}}
	if o.Raw {
		w.out, w.paint = v.App.Raw(), false
	}
	w.title(&s)
	return w.messages(ctx, &s, part)
}

// writer prints the rows of a conversation as logs show the stream of an agent.
type writer struct {
	view   *SessionView
	out    io.Writer
	paint  terminal.Palette
	stream stream
	mark   string // begins each line: of a subagent
	depth  int
}

func (w *writer) title(s *sessions.Session) {
	fmt.Fprintf(w.out, "%ssession %s: %s\n", w.mark, w.view.line(s.ID), w.view.line(about(s, sessions.Origin{})))
}

// messages prints what was asked for, and at the end of a conversation the subagents that no tool call names.
func (w *writer) messages(ctx context.Context, s *sessions.Session, part sessions.Part) error {
	part.Most = pageSize + 1
	for {
		list, err := w.view.Ledger.Conversation(ctx, s.ID, part)
		if err != nil {
			return err
		}
		if err := w.page(ctx, list[:min(len(list), pageSize)]); err != nil {
			return err
		}
		if len(list) <= pageSize {
			break
		}
		part.From = list[pageSize].Sequence
	}
	if part.To > 0 || part.Spoken {
		return nil
	}
	subagents, err := w.view.Ledger.Loose(ctx, s.ID)
	for i := range subagents {
		if err == nil {
			err = w.subagent(ctx, subagents[i].ID)
		}
	}
	return err
}

func (w *writer) page(ctx context.Context, list []sessions.Said) error {
	for i := range list {
		m := &list[i]
		w.event(&runners.Message{Kind: runners.Said, Role: runners.Role(m.Role), Text: m.Content, At: m.Timestamp})
		if err := w.calls(ctx, m.Calls); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) event(e *runners.Message) {
	w.stream.event(Entry{}, e, func(e Entry) { e.write(w.out, w.paint, w.mark) })
}

// calls prints tool calls with their results, and the subagents that they began.
func (w *writer) calls(ctx context.Context, list []sessions.ToolCall) error {
	for i := range list {
		c := &list[i]
		w.event(&runners.Message{Kind: runners.Called, ID: c.ID, At: c.StartedAt, Tool: c.Tool, Params: json.RawMessage(c.ParamsJSON)})
		if c.ChildSession != "" {
			if err := w.subagent(ctx, c.ChildSession); err != nil {
				return err
			}
		}
		if c.Status != "" {
			w.event(&runners.Message{
				Kind: runners.Returned, ID: c.ID, At: c.CompletedAt, Status: runners.ActionStatus(c.Status), Result: json.RawMessage(c.ResultJSON),
			})
		}
	}
	return nil
}

// subagent prints the beginning of what a subagent has said, at the place where it was begun.
func (w *writer) subagent(ctx context.Context, id string) error {
	if w.depth >= maxNested {
		return nil
	}
	s, err := w.view.Ledger.Find(ctx, id)
	if err != nil {
		return err
	}
	list, err := w.view.Ledger.Conversation(ctx, s.ID, sessions.Part{Most: nestedLength + 1})
	if err != nil {
		return err
	}
	below := *w
	below.mark, below.depth = w.mark+"  | ", w.depth+1
	below.title(&s)
	err = below.page(ctx, list[:min(len(list), nestedLength)])
	if len(list) > nestedLength {
		fmt.Fprintf(w.out, "%s… relay sessions show %s goes on\n", below.mark, s.ID)
	}
	return err
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
