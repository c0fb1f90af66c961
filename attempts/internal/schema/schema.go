// Package schema holds JSON values against a JSON Schema, and lists what is wrong with them in sentences.
package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled schema. It is not safe for use by several goroutines at once.
type Schema struct {
	schema  *jsonschema.Schema
	printer *message.Printer
}

// Format checks a text that is said to have a format.
type Format func(text string) error

// Problem is one thing that a schema refuses.
type Problem struct {
	Path []string // of the value, from the top
	Text string
	// Either holds what each of several schemas refuses, of which one would have to be met; Text is empty then.
	Either []Problem
}

// Compile reads a schema. formats are checked besides those that the drafts of JSON Schema define, or in their place.
func Compile(text []byte, formats map[string]Format) (*Schema, error) {
	document, err := Decode(text)
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, check := range formats {
		compiler.RegisterFormat(&jsonschema.Format{Name: name, Validate: func(v any) error {
			if text, ok := v.(string); ok {
				return check(text)
			}
			return nil // what is no text is not for a format to judge
		}})
	}
	const name = "schema.json"
	if err := compiler.AddResource(name, document); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		return nil, err
	}
	return &Schema{schema: compiled, printer: message.NewPrinter(language.English)}, nil
}

// Decode reads one JSON value, whose numbers stay as they are written. It fails when anything else follows.
func Decode(text []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(text)) }

// Validate returns what is wrong with a value, in any order. None: it meets the schema.
func (s *Schema) Validate(value any) []Problem {
	if found := outOfRange(value, nil); len(found) > 0 { // the library computes with numbers of any size, and fails for such
		return found
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](s.schema.Validate(value))
	if !ok {
		return nil
	}
	return s.problems(invalid)
}

// Sentences returns what is wrong with a value, a sentence each, in alphabetical order. The schema has no anyOf: each problem is a text.
func (s *Schema) Sentences(value any) (found []string) {
	for _, p := range s.Validate(value) {
		text := p.Text
		if at := strings.Join(p.Path, "."); at != "" {
			text = at + ": " + text
		}
		found = append(found, text)
	}
	slices.Sort(found) // objects are gone through in any order
	return slices.Compact(found)
}

// problems lists the errors that have no causes: the others only say that there are some.
func (s *Schema) problems(e *jsonschema.ValidationError) (found []Problem) {
	if len(e.Causes) == 0 {
		return []Problem{{Path: e.InstanceLocation, Text: e.ErrorKind.LocalizedString(s.printer)}}
	}
	for _, cause := range e.Causes {
		found = append(found, s.problems(cause)...)
	}
	if _, either := e.ErrorKind.(*kind.AnyOf); either {
		return []Problem{{Path: e.InstanceLocation, Either: found}}
	}
	return found
}

// outOfRange lists numbers that no program of these formats can hold.
func outOfRange(value any, path []string) (found []Problem) {
	switch v := value.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || n < -400 || n > 400 {
			return []Problem{{Path: slices.Clone(path), Text: "the number is out of range"}}
		}
	case []any:
		for i, item := range v {
			found = append(found, outOfRange(item, append(path, strconv.Itoa(i)))...)
		}
	case map[string]any:
		for key, item := range v {
			found = append(found, outOfRange(item, append(path, key))...)
		}
	}
	return found
}
