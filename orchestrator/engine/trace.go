package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// TraceEnv returns TRACEPARENT, the span that spans of a process belong below: that of an attempt, or of the run for no task. Without a
// trace it returns nothing.
func (o *Options) TraceEnv(run, task string, attempt int) []string {
	span := AttemptSpan(run, task, attempt)
	switch {
	case o.Trace == "":
		return nil
	case task == "":
		span = TraceID(8, run)
	}
	return []string{"TRACEPARENT=00-" + o.Trace + "-" + span + "-01"}
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
