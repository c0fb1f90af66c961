package sessions

import "fmt"

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
