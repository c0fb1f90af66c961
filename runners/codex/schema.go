package codex

import (
	"encoding/json"
	"slices"
)

// strictSchema returns the form of a schema that providers enforce to the letter: each object is closed, and all its
// properties are required. What was optional may be null, and an optional property that has no such form, as an object
// of any keys, is left out. It is nil for a schema with anything else in it.
func strictSchema(schema []byte) []byte {
	var s map[string]any
	if json.Unmarshal(schema, &s) != nil || s["type"] != "object" {
		return nil
	}
	strict, ok := strictNode(s)
	if !ok {
		return nil
	}
	data, err := json.Marshal(strict)
	if err != nil {
		return nil
	}
	return data
}

func strictNode(s map[string]any) (map[string]any, bool) {
	strict := make(map[string]any, len(s)+1)
	for key, value := range s {
		switch key {
		case "type", "description", "enum":
			strict[key] = value
		case "items":
			item, ok := strictChild(value)
			if !ok {
				return nil, false
			}
			strict[key] = item
		case "properties", "required", "additionalProperties": // see strictObject
		default:
			return nil, false
		}
	}
	switch s["type"] {
	case "object":
		return strict, strictObject(s, strict)
	case "string", "integer", "number", "boolean":
		return strict, true
	case "array":
		return strict, s["items"] != nil
	}
	return nil, false
}

func strictChild(value any) (map[string]any, bool) {
	s, ok := value.(map[string]any)
	if !ok {
		return nil, false
	}
	return strictNode(s)
}

// strictObject fills in the properties of an object.
func strictObject(s, strict map[string]any) bool {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if open := s["additionalProperties"]; len(properties) == 0 || open != nil && open != false {
		return false
	}
	kept, names := make(map[string]any, len(properties)), make([]string, 0, len(properties))
	for name, value := range properties {
		child, ok := strictChild(value)
		switch needed := slices.Contains(required, any(name)); {
		case !ok && needed:
			return false
		case !ok:
			continue
		case !needed:
			orNull(child)
		}
		kept[name], names = child, append(names, name)
	}
	slices.Sort(names)
	strict["properties"], strict["required"], strict["additionalProperties"] = kept, names, false
	return true
}

func orNull(s map[string]any) {
	s["type"] = []any{s["type"], "null"}
	if words, ok := s["enum"].([]any); ok {
		s["enum"] = append(slices.Clone(words), nil)
	}
}
