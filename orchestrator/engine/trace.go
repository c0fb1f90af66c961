package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// TraceParent returns the value of TRACEPARENT for what an attempt starts; without a task, for what the run starts.
func TraceParent(trace, run, task string, attempt int) string {
	span := TraceID(8, run)
	if task != "" {
		span = AttemptSpan(run, task, attempt)
	}
	return "00-" + trace + "-" + span + "-01"
}

// AttemptSpan returns the id of an attempt's span.
func AttemptSpan(run, task string, attempt int) string {
	return TraceID(8, run, task, strconv.Itoa(attempt))
}

// TraceID returns an id of some bytes, in hex, for what the names say. It is the same whenever it is asked for.
func TraceID(size int, names ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	return hex.EncodeToString(sum[:size])
}
