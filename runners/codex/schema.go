package codex

import (
	"encoding/json"
	"maps"
	"slices"
)

// strictSchema returns the form of one of relay's schemas that providers enforce to the letter; nil for none. Each object is closed, and
// all its properties are required. Optional properties may be null; a map of texts is a list of objects with a name and a value, which
// is how [runners.ParseResult] also reads decisions.
func strictSchema(schema []byte) []byte {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	makeStrict(s)
	data, _ := json.Marshal(s) // it came from JSON
	return data
}

func makeStrict(s map[string]any) {
	if item, ok := s["items"].(map[string]any); ok {
		makeStrict(item)
	}
	if text, ok := s["additionalProperties"].(map[string]any); ok { // a map
		s["type"], s["items"] = "array", map[string]any{
			"type": "object", "properties": map[string]any{"name": text, "value": text},
			"required": []string{"name", "value"}, "additionalProperties": false,
		}
		delete(s, "additionalProperties")
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for name, value := range properties {
		child, _ := value.(map[string]any)
		if makeStrict(child); slices.Contains(required, any(name)) {
			continue
		}
		child["type"] = []any{child["type"], "null"}
		if words, ok := child["enum"].([]any); ok {
			child["enum"] = append(words, nil)
		}
	}
	if len(properties) > 0 {
		s["required"], s["additionalProperties"] = slices.Sorted(maps.Keys(properties)), false
	}
}
