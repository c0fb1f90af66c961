package jsonline

import (
	"encoding/json"
	"strings"

	"relay/runners/internal/cleantext"
)

// Name reads a JSON string that names something, cleaned and at most cleantext.MaxName bytes; "" for any other value.
func Name(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return cleantext.OneLine(String(raw).Head(8*cleantext.MaxName+4), cleantext.MaxName) // Clean looks at no more
}

// Quote returns s as a JSON string.
func Quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// Raw returns s as a JSON string, to stand beside others as a CLI printed them.
func Raw(s string) json.RawMessage { return json.RawMessage(Quote(s)) }

// QuoteList returns a list of texts as JSON, which is also TOML.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Quote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
