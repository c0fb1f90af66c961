package records

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"relay/reanchor/git"
)

// CursorFile says how far the records of an epic have been written. It is in relay's folder of the epic; without it everything is looked
// for in the records themselves.
const CursorFile = "records.json"

type cursor struct {
	LedgerSync  position `json:"ledgersync"`
	Artifacts   position `json:"artifacts"`
	Discussions position `json:"discussions"`
}

// position says how far one kind of records is written.
type position struct {
	Seq    uint64 `json:"seq"`              // the records of all events up to this one are on the disk
	Offset int64  `json:"offset,omitempty"` // and in the ledger no further than this
}

// readCursor returns what was written; of a file that is not there or cannot be read nothing is known.
func readCursor(dir string) (c cursor) {
	text, err := os.ReadFile(filepath.Join(dir, CursorFile))
	if err != nil || json.Unmarshal(text, &c) != nil || c.LedgerSync.Offset < 0 {
		return cursor{}
	}
	return c
}

// save writes the file. A crash leaves the old one or the new one, or none: then records are looked for.
func (c *cursor) save(dir string) error {
	text, err := json.Marshal(c)
	return errors.Join(err, git.ReplaceFile(filepath.Join(dir, CursorFile), 0o600, append(text, '\n')))
}
