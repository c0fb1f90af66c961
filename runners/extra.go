package runners

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	"relay/internal/plaintext"
	"relay/runners/internal/cleantext"
)

const (
	maxExtra      = 64 << 10 // bytes of all unknown fields together
	maxExtraDepth = 8
)

// extra keeps the fields relay does not know, cleaned, in the order of their names until the room is used up.
func extra(fields map[string]json.RawMessage) map[string]json.RawMessage {
	kept, room := map[string]json.RawMessage{}, maxExtra
	for _, key := range sortedKeys(fields, maxList) {
		name := cleantext.Clean(key, cleantext.MaxName)
		if name != key && isField(name) {
			continue
		}
		dec := json.NewDecoder(bytes.NewReader(fields[key]))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			continue
		}
		raw, err := json.Marshal(cleanValue(v, maxExtraDepth))
		if err != nil || len(raw)+len(key) > room {
			continue
		}
		room -= len(raw) + len(key)
		kept[name] = raw
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// isField reports whether a result has a field of that name.
func isField(name string) bool {
	switch name {
	case "status", "summary", "files_changed", "error_category", "error_summary", "suggestion", "learning", "pattern_tags",
		"discovered", "decisions", "questions", "confident", "implementation", "bugfix", "review":
		return true
	default:
		return false
	}
}

// cleanValue applies the caps of a result to a decoded JSON value; what lies deeper than depth becomes null.
func cleanValue(v any, depth int) any {
	switch v := v.(type) {
	case string:
		return cleantext.Clean(v, cleantext.MaxString)
	case json.Number:
		return json.Number(plaintext.Head(v.String(), cleantext.MaxName))
	case []any:
		if depth == 0 {
			return nil
		}
		list := make([]any, 0, min(len(v), maxList))
		for _, item := range v[:min(len(v), maxList)] {
			list = append(list, cleanValue(item, depth-1))
		}
		return list
	case map[string]any:
		if depth == 0 {
			return nil
		}
		object := make(map[string]any, min(len(v), maxList))
		for _, key := range sortedKeys(v, maxList) {
			object[cleantext.Clean(key, cleantext.MaxName)] = cleanValue(v[key], depth-1)
		}
		return object
	}
	return v
}

// sortedKeys returns the first max keys of m in order, so that what is cut does not depend on chance.
func sortedKeys[V any](m map[string]V, max int) []string {
	keys := slices.Sorted(maps.Keys(m))
	return keys[:min(len(keys), max)]
}

// MarshalJSON writes the known fields in their order and Extra's after them.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	known, err := json.Marshal(plain(r))
	if err != nil || len(r.Extra) == 0 {
		return known, err
	}
	rest, err := json.Marshal(r.Extra)
	if err != nil {
		return nil, err
	}
	known[len(known)-1] = ','
	return append(known, rest[1:]...), nil
}

// UnmarshalJSON decodes with ParseResult, so that a stored result is held to the same rules as a fresh one.
func (r *Result) UnmarshalJSON(data []byte) error {
	parsed, err := ParseResult(data)
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}
