package agentlog

import (
	"context"
	"fmt"

	"relay/attempts/sessions"
	"relay/epic/pattern"
	"relay/epic/plaintext"
	"relay/reanchor"
)

// Branch is a place in a conversation from which it can go on in another way.
type Branch struct {
	Turn    sessions.Turn
	Session sessions.Session
	Origin  sessions.Origin // of the session
	Before  []sessions.Said
}

// BranchAt returns the place before a turn.
func BranchAt(ctx context.Context, ledger *sessions.Reader, turn string) (b Branch, err error) {
	if b.Turn, err = ledger.Turn(ctx, turn); err != nil {
		return b, err
	}
	if b.Session, err = ledger.Find(ctx, b.Turn.Session); err != nil {
		return b, err
	}
	if b.Before, err = ledger.Before(ctx, b.Turn); err != nil {
		return b, err
	}
	b.Origin, err = ledger.Origin(ctx, b.Session.ID)
	return b, err
}

// By names the conversation, for people and agents.
func (b *Branch) By() string {
	if b.Origin.Task == "" {
		return b.Session.Source
	}
	return fmt.Sprintf("%s in attempt %d of %s", b.Session.Source, b.Origin.Attempt, b.Origin.Task)
}

// inWorktree is the path of a worktree: another agent has the same files in a worktree of its own.
var inWorktree = pattern.New(`/[^"\s]*-[0-9a-f]{16}/([a-z]+-)?[0-9]+/`)

// Said returns what was said before, as a prompt has it.
func (b *Branch) Said() (list []reanchor.Said) {
	for _, m := range b.Before {
		said := reanchor.Said{Role: m.Role, Text: m.Content}
		for _, c := range m.Calls {
			params := plaintext.Fit(inWorktree.ReplaceAllString(c.ParamsJSON, ""), 150)
			said.Tools = append(said.Tools, c.Tool+" "+params+": "+plaintext.FirstOf(c.Status, "running"))
		}
		list = append(list, said)
	}
	return list
}
