package durable

import (
	"bytes"
	"encoding/json"

	fast "github.com/segmentio/encoding/json"
)

// Unmarshal reads a text into the zero value that to points to. encoding/json reads what the fast decoder refuses, so that errors and what
// is read in spite of them are its own, and what may be nested too deep: the fast decoder has no limit of depth, and would exhaust the
// stack.
func Unmarshal[T any](text []byte, to *T) error {
	const deepest = 10_000 // for encoding/json
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= deepest && fast.Unmarshal(text, to) == nil {
		return nil
	}
	var none T
	*to = none
	return json.Unmarshal(text, to)
}
