package adapter

import (
	"encoding/json"
	"strings"

	"relay/runners"
)

// JSONName reads a JSON string that names something, cleaned and at most runners.MaxName bytes; "" for any other value.
func JSONName(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return runners.OneLine(JSONString(raw).Head(8*runners.MaxName+4), runners.MaxName) // Clean looks at no more
}

// JSONQuote returns s as a JSON string.
func JSONQuote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(text)
}

// RawJSON returns s as a JSON string, to stand beside others as a CLI printed them.
func RawJSON(s string) json.RawMessage { return json.RawMessage(JSONQuote(s)) }

// JSONQuoteList returns a list of texts as JSON, which is also TOML.
func JSONQuoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = JSONQuote(s)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}
