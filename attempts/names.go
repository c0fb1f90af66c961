package attempts

import (
	"crypto/rand"
	"fmt"
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
	LedgerFile  = "attempt-ledger.yml"
	LockFile    = "lock"
	RunsDir     = "runs"
	EventsFile  = "events.jsonl"
	SeenPlan    = "plan.json" // a long plan as viewers read it
	reserveFile = "reserve"
)

var runPattern = pattern.New(`^[0-9]{8}T[0-9]{6}Z-[0-9a-z]{1,16}$`)

// NewRunID names a run by when it began: YYYYMMDDThhmmssZ-xxxx, the end by chance.
func NewRunID(now time.Time) string {
	var end [2]byte
	_, _ = rand.Read(end[:]) // it never fails
	return fmt.Sprintf("%s-%x", now.UTC().Format("20060102T150405Z"), end)
}

// EventsPath returns where the log of a run is, below the relay folder.
func EventsPath(run string) string { return path.Join(RunsDir, run, EventsFile) }

// runNames lists the runs that have a folder, by name.
func runNames(fsys durable.FS) ([]string, error) {
	return durable.Folders(fsys, RunsDir, runPattern.MatchString)
}
