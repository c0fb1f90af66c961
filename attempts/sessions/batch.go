package sessions

import (
	"errors"
	"fmt"
	"slices"
)

const maxState = 1 << 20

// TakenError means that another session has a row of this id. A row never moves from one session to another: no stream can change
// what another one has said.
type TakenError struct {
	Row     string // message, turn, tool call
	ID      string
	Session string // the one that was written to
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("%s %q of session %q has the id of a row of another session", e.Row, e.ID, e.Session)
}

// check returns what no database could refuse well: rows without the ids they need.
func (b *Batch) check() error {
	var errs []error
	need := func(row string, values ...string) {
		if slices.Contains(values, "") {
			errs = append(errs, fmt.Errorf("a %s lacks an id, its session, its source or its role", row))
		}
	}
	for i := range b.Sessions {
		need("session", b.Sessions[i].ID, b.Sessions[i].Source)
	}
	for i := range b.Messages {
		need("message", b.Messages[i].ID, b.Messages[i].Session, b.Messages[i].Role)
	}
	for i := range b.Turns {
		need("turn", b.Turns[i].ID, b.Turns[i].Session)
	}
	for i := range b.ToolCalls {
		need("tool call", b.ToolCalls[i].ID, b.ToolCalls[i].Session)
	}
	for i := range b.Marks {
		if b.Marks[i].Stream == "" || len(b.Marks[i].State) > maxState {
			errs = append(errs, fmt.Errorf("a mark has no stream, or a state of more than %d bytes", maxState))
		}
	}
	return errors.Join(errs...)
}

// parentsFirst orders the sessions of a batch so that each stands after its parent. Of two with one id the later one counts.
func parentsFirst(sessions []Session) ([]*Session, error) {
	byID := make(map[string]*Session, len(sessions))
	for i := range sessions {
		byID[sessions[i].ID] = &sessions[i]
	}
	ordered := make([]*Session, 0, len(byID))
	state := make(map[string]int, len(byID)) // 1: its parents are being placed, 2: it is placed
	for i := range sessions {
		var line []*Session // from the session up to the one whose parent is placed or not in the batch
		for at := byID[sessions[i].ID]; at != nil && state[at.ID] != 2; at = byID[at.ParentSession] {
			if state[at.ID] == 1 {
				return nil, fmt.Errorf("session %q is its own ancestor", at.ID)
			}
			state[at.ID] = 1
			line = append(line, at)
		}
		for _, s := range slices.Backward(line) {
			state[s.ID] = 2
			ordered = append(ordered, s)
		}
	}
	return ordered, nil
}
