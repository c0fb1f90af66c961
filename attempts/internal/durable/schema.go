package durable

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"relay/epic/each"
)

// Schema is a compiled schema. It is not safe for use by several goroutines at once.
type Schema struct {
	schema  *jsonschema.Schema
	printer *message.Printer
}

// Problem is one thing that a schema refuses.
type Problem struct {
	Path []string // of the value, from the top
	Text string
}

// String returns where and what.
func (p Problem) String() string {
	if len(p.Path) == 0 {
		return p.Text
	}
	return strings.Join(p.Path, ".") + ": " + p.Text
}

// SchemaFault is what is wrong with one line of a file.
type SchemaFault struct {
	Line    int    `json:"line,omitempty"` // from 1
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning,omitempty"` // the file is valid all the same
}

// CompileSchema reads a schema, and has the formats of its texts checked.
func CompileSchema(text []byte) (*Schema, error) {
	document, err := DecodeJSON(text)
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
			return nil // formats are for texts only
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

// DecodeJSON reads one JSON value, whose numbers stay as they are written. It fails when anything else follows.
func DecodeJSON(text []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(text)) }

// Validate returns what is wrong with a value, in the order of its sentences. None: it meets the schema.
func (s *Schema) Validate(value any) []Problem {
	found := outOfRange(value, nil) // the library computes with numbers of any size, and fails for such
	if len(found) == 0 {
		if invalid, ok := errors.AsType[*jsonschema.ValidationError](s.schema.Validate(value)); ok {
			found = s.problems(invalid)
		}
	}
	slices.SortFunc(found, func(x, y Problem) int { return strings.Compare(x.String(), y.String()) })
	return slices.CompactFunc(found, func(x, y Problem) bool { return x.String() == y.String() })
}

// Check returns what is wrong with a JSON text, a sentence each.
func (s *Schema) Check(text []byte) []string {
	value, err := DecodeJSON(text)
	if err != nil {
		return []string{"it is not JSON: " + err.Error()}
	}
	return Sentences(s.Validate(value))
}

// Sentences says each problem in a sentence.
func Sentences(problems []Problem) []string {
	return each.Of(problems, Problem.String)
}

// problems lists the errors that have no causes: the others only say that there are some.
func (s *Schema) problems(e *jsonschema.ValidationError) (found []Problem) {
	if len(e.Causes) == 0 {
		return []Problem{{e.InstanceLocation, e.ErrorKind.LocalizedString(s.printer)}}
	}
	for _, cause := range e.Causes {
		found = append(found, s.problems(cause)...)
	}
	return found
}

// outOfRange lists numbers that no program of these formats can hold.
func outOfRange(value any, path []string) (found []Problem) {
	switch v := value.(type) {
	case json.Number:
		_, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || n < -400 || n > 400 {
			return []Problem{{slices.Clone(path), "the number is out of range"}}
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
