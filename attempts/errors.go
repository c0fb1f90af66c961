package attempts

import (
	"errors"
	"fmt"
	"strings"

	"relay/attempts/internal/durable"
	"relay/epic/each"
)

// Holder names who has an epic's lock.
type Holder = durable.Holder

// HeldError means that another relay works on the epic, or did so on another host and never let go.
type HeldError = durable.HeldError

// ErrExists means that there is a ledger already.
var ErrExists = errors.New("there is an attempt ledger already")

// ErrNoLedger means that the epic has no ledger and no event log yet.
var ErrNoLedger = errors.New("no attempt ledger")

// EditedError means that attempt-ledger.yml was changed by somebody else.
type EditedError struct {
	Path       string
	Diff       string // unified; from what relay wrote to what is there
	Unreadable error  // why it cannot be read as a ledger; nil: it can
}

func (e *EditedError) Error() string {
	if e.Unreadable != nil {
		return e.Path + " cannot be read: " + e.Unreadable.Error()
	}
	return e.Path + " was changed by somebody else"
}

// VersionError means that a file was written by a newer relay.
type VersionError struct {
	Path          string
	Version, Ours int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("%s has version %d, and this relay reads up to version %d", e.Path, e.Version, e.Ours)
}

// EpicError means that the ledger belongs to another epic.
type EpicError struct {
	Path, Have, Want string
}

func (e *EpicError) Error() string {
	return fmt.Sprintf("%s belongs to epic %s, not to %s", e.Path, e.Have, e.Want)
}

// Fault is one thing that is wrong with the files of an epic's memory.
type Fault struct {
	File    string `json:"file"`           // below the relay folder
	Line    int    `json:"line,omitempty"` // 0 when the fault has no line
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (f Fault) Error() string {
	if f.Line > 0 {
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	}
	return f.File + ": " + f.Message
}

// DamageError carries everything that keeps the event logs from being read.
type DamageError struct {
	Faults []Fault
}

func (e *DamageError) Error() string {
	return strings.Join(each.Of(e.Faults, Fault.Error), "\n")
}

// RefusedError reports why something cannot be done as things are, and what to type.
type RefusedError struct{ Reason, Hint string }

// Error gives the reason.
func (e *RefusedError) Error() string { return e.Reason }
