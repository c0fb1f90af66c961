package adapter

import (
	"encoding/json"

	"relay/runners"
)

// JSONName reads a JSON string that names something, cleaned and at most runners.MaxName bytes; "" for any other value.
func JSONName(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	return runners.OneLine(JSONString(raw).Head(8*runners.MaxName+4), runners.MaxName) // Clean looks at no more
}

// JSONQuote returns a string or a list of strings as JSON, which is also TOML.
func JSONQuote[T string | []string](value T) string {
	text, _ := json.Marshal(value) // it always can be
	return string(text)
}

// RawJSON returns s as a JSON string, to stand beside others as a CLI printed them.
func RawJSON(s string) json.RawMessage { return json.RawMessage(JSONQuote(s)) }

// InnerJSON returns the JSON in a string, or the string itself as JSON; nil for "".
func InnerJSON(s string) json.RawMessage {
	switch {
	case s == "":
		return nil
	case json.Valid([]byte(s)):
		return json.RawMessage(s)
	}
	return RawJSON(s)
}
