package attempts

import (
	"encoding/hex"
	"io"
	"path"
	"time"

	"relay/attempts/internal/durable"
	"relay/epic/pattern"
)

// Versions of the two formats written here.
const (
	LedgerVersion = 2
	LogVersion    = 1
)

// Names of the files, below the relay folder.
const (
	LedgerFile = "attempt-ledger.yml"
	LockFile   = "lock"
	RunsDir    = "runs"
	EventsFile = "events.jsonl"
	SeenPlan   = "plan.json" // a long plan as viewers read it

	reserveFile = "reserve"
)

var runPattern = pattern.New(`^[0-9]{8}T[0-9]{6}Z-[0-9a-z]{1,16}$`)

// NewRunID names a run by when it began: YYYYMMDDThhmmssZ-xxxx, the end from entropy.
func NewRunID(now time.Time, entropy io.Reader) string {
	end := make([]byte, 2)
	if _, err := io.ReadFull(entropy, end); err != nil {
		ns := now.Nanosecond() // worse, but runs of one epic are a lock apart anyway
		end = []byte{byte(ns >> 10), byte(ns >> 18)}
	}
	return now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(end)
}

// EventsPath returns where the log of a run is, below the relay folder.
func EventsPath(run string) string { return path.Join(RunsDir, run, EventsFile) }

// runNames lists the runs that have a folder, by name.
func runNames(fsys durable.FS) ([]string, error) {
	return durable.Folders(fsys, RunsDir, runPattern.MatchString)
}
