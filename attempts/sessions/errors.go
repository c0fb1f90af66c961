package sessions

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"relay/attempts/internal/durable"
)

// Errors of the ledger's file. The error returned names the file.
var (
	ErrMissing = errors.New("there is no agents ledger yet")
	ErrLocked  = errors.New("another process is writing it")
	ErrFull    = errors.New("the disk is full")
	ErrForeign = errors.New("it is a database of another program")
	ErrNewer   = errors.New("a newer relay has written it")
	ErrDamaged = errors.New("it is damaged")
)

// named adds the file to an error, and says which of the above it is.
func named(err error) error {
	if err == nil {
		return nil
	}
	kind := kindOf(err)
	if kind == nil || errors.Is(err, kind) {
		return fmt.Errorf("%s: %w", File, err)
	}
	return fmt.Errorf("%s: %w: %w", File, kind, err)
}

// kindOf returns which of the errors above an error of the driver is, or nil.
func kindOf(err error) error {
	if durable.Full(err) {
		return ErrFull
	}
	failed, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return nil
	}
	if failed.Code() == sqlite3.SQLITE_READONLY_ROLLBACK { // a process was killed while it made the ledger
		return ErrMissing
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrLocked
	case sqlite3.SQLITE_FULL:
		return ErrFull
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return ErrDamaged
	}
	return nil
}

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
