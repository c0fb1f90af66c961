package opencode

import (
	"strings"
	"time"

	"relay/epic/pattern"
	"relay/runners"
	"relay/runners/internal/adapter"
)

// stderrLog is the end of what opencode logs on stderr.
type stderrLog string

func readLog(req runners.Request) stderrLog { return stderrLog(adapter.End(req.Stderr, 8<<10)) }

// databaseBusy recognises what several of them that begin in a new home do to each other.
func (l stderrLog) databaseBusy() bool {
	words := string(l)
	return strings.Contains(words, "database is locked") || strings.Contains(words, "Failed query:") || strings.Contains(words, "SQLITE_BUSY")
}

var (
	logErrorPattern = pattern.New(`message="stream error".* error\.error="((?:[^"\\]|\\.)*)"`)
	logTimePattern  = pattern.New(`(?m)\btimestamp=(\S+) .*message="stream error"`)
)

// failure returns text about the last request that failed, if any: while opencode asks again it reports none elsewhere. It is for
// people, and decides nothing.
func (l stderrLog) failure() string {
	found := logErrorPattern.FindAllStringSubmatch(string(l), -1)
	if len(found) == 0 {
		return ""
	}
	return "its last request failed: " + runners.OneLine(found[len(found)-1][1], 200)
}

// failedSince reports whether a request failed after a time, in milliseconds since 1970.
func (l stderrLog) failedSince(ms int64) bool {
	for _, m := range logTimePattern.FindAllStringSubmatch(string(l), -1) {
		if at, err := time.Parse(time.RFC3339, m[1]); err == nil && at.UnixMilli() > ms {
			return true
		}
	}
	return false
}
