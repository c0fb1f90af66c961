package sessionview

import (
	"context"
	"fmt"
	"strings"

	"relay/attempts/sessions"
	"relay/internal/lazyregexp"
	"relay/orchestrator/text"
	"relay/reanchor"
	"relay/runners"
)

// Branch is a place in a conversation from which it can go on in another way.
type Branch struct {
	Turn    sessions.Turn
	Session sessions.Session
	Origin  sessions.Origin // of the session
	Before  []sessions.Said
	Place   *runners.Fork // in the session itself; nil: nothing was said there before
}

// Branch returns the place before a turn.
func (v *View) Branch(ctx context.Context, turn string) (b Branch, err error) {
	if b.Turn, err = v.ledger.Turn(ctx, turn); err != nil {
		return b, err
	}
	if b.Session, err = v.ledger.Find(ctx, b.Turn.Session); err != nil {
		return b, err
	}
	if b.Before, err = v.ledger.Before(ctx, b.Turn); err != nil {
		return b, err
	}
	if b.Origin, err = v.ledger.Origin(ctx, b.Session.ID); err != nil {
		return b, err
	}
	b.Place, err = v.place(ctx, b.Turn)
	return b, err
}

// place returns what the session was asked in a turn, and how often before and in all; nil for its first turn.
func (v *View) place(ctx context.Context, turn sessions.Turn) (*runners.Fork, error) {
	exchanges, err := v.ledger.Exchanges(ctx, turn.Session)
	if err != nil {
		return nil, err
	}
	var asked []string
	at := 0
	for i, e := range exchanges {
		request, err := v.ledger.Conversation(ctx, turn.Session, sessions.Part{From: e.From, To: e.From + 1})
		if err != nil {
			return nil, err
		}
		text := ""
		if len(request) > 0 && request[0].Role == "user" {
			text = strings.TrimSpace(request[0].Content)
		}
		if asked = append(asked, text); e.ID == turn.ID {
			at = i
		}
	}
	if at == 0 || asked[at] == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	place := &runners.Fork{Session: turn.Session, Asked: asked[at]}
	for i, text := range asked {
		if text != asked[at] {
			continue
		}
		place.Of++
		if i < at {
			place.Nth++
		}
	}
	return place, nil
}

// By names the conversation, for people and agents.
func (b *Branch) By() string {
	if b.Origin.Task == "" {
		return b.Session.Source
	}
	return fmt.Sprintf("%s in attempt %d of %s", b.Session.Source, b.Origin.Attempt, b.Origin.Task)
}

// inWorktree is the path of a worktree: another agent has the same files in a worktree of its own.
var inWorktree = lazyregexp.New(`/[^"\s]*-[0-9a-f]{16}/([a-z]+-)?[0-9]+/`)

// Said returns what was said before, as a prompt has it.
func (b *Branch) Said() (list []reanchor.Said) {
	for _, m := range b.Before {
		said := reanchor.Said{Role: m.Role, Text: m.Content}
		for _, c := range m.Calls {
			params := text.Line(inWorktree.ReplaceAllString(c.ParamsJSON, ""), 150)
			said.Tools = append(said.Tools, c.Tool+" "+params+": "+text.FirstOf(c.Status, "running"))
		}
		list = append(list, said)
	}
	return list
}

// SessionOf returns the id of the first session about a task, or of a fork; "" when there is none.
func (v *View) SessionOf(ctx context.Context, task string) (string, error) {
	list, err := v.ledger.List(ctx, sessions.Filter{Task: task})
	if err != nil || len(list) == 0 {
		return "", err
	}
	return list[0].ID, nil
}
