package codex

import (
	"encoding/json"
	"slices"
)

// strictSchema returns the form of a schema that providers enforce to the letter: each object is closed, and all its
// properties are required. Optional properties may be null; a map of texts is a list of objects with a name and a value, which is
// how [runners.ParseResult] also reads decisions; and an optional property that has no such form, as any other object of any keys,
// is left out. It is nil for a schema with anything else in it.
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
		if list := strictMap(s); list != nil {
			return list, true
		}
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

// strictMap returns the strict form of an object of any keys whose values are texts; nil for any other.
func strictMap(s map[string]any) map[string]any {
	value, _ := s["additionalProperties"].(map[string]any)
	if len(value) != 1 || value["type"] != "string" || s["properties"] != nil || s["required"] != nil {
		return nil
	}
	text := map[string]any{"type": "string"}
	list := map[string]any{"type": "array", "items": map[string]any{
		"type": "object", "properties": map[string]any{"name": text, "value": text},
		"required": []any{"name", "value"}, "additionalProperties": false,
	}}
	if about, ok := s["description"]; ok {
		list["description"] = about
	}
	return list
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
