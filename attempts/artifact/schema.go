package artifact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed artifact.schema.json
var artifactSchema []byte

// Schema is the JSON Schema (draft 7) of an artifact: of front matter and body together.
func Schema() json.RawMessage { return bytes.Clone(artifactSchema) }

// Validator holds artifacts against [Schema], and writes those that meet it. It is not safe for use by several goroutines at once.
type Validator struct {
	schema  *jsonschema.Schema
	printer *message.Printer
}

// NewValidator compiles the schema.
func NewValidator() (*Validator, error) {
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(artifactSchema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: func(v any) error {
		text, ok := v.(string)
		if !ok { // the type says so
			return nil
		}
		_, err := parseTime(text)
		return err
	}})
	const name = "artifact.schema.json"
	if err := compiler.AddResource(name, text); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return nil, err
	}
	return &Validator{schema: schema, printer: message.NewPrinter(language.English)}, nil
}

// Validate checks an artifact as it would be written. The error says everything that is wrong with it.
func Validate(a *Artifact) error {
	v, err := NewValidator()
	if err != nil {
		return err
	}
	if problems := v.Check(plain(a.Map())); len(problems) > 0 {
		return fmt.Errorf("the artifact is invalid: %s", strings.Join(problems, "; "))
	}
	return nil
}

// Check returns what is wrong with an artifact as a JSON value, a sentence each, in alphabetical order. None: it is valid.
func (v *Validator) Check(value any) (problems []string) {
	for _, f := range v.check(value) {
		problems = append(problems, f.text)
	}
	return problems
}

// finding is one thing that the schema refuses: where, what, and both in a sentence.
type finding struct {
	path       []string
	what, text string
}

func newFinding(path []string, what string) finding {
	text := what
	if len(path) > 0 {
		text = strings.Join(path, ".") + ": " + what
	}
	return finding{path, what, text}
}

// check is Check that also says where.
func (v *Validator) check(value any) []finding {
	invalid, ok := errors.AsType[*jsonschema.ValidationError](v.schema.Validate(value))
	if !ok {
		return nil
	}
	found := v.leaves(invalid, nil)
	// The validator goes through objects in any order.
	slices.SortFunc(found, func(x, y finding) int { return strings.Compare(x.text, y.text) })
	return slices.CompactFunc(found, func(x, y finding) bool { return x.text == y.text })
}

// leaves lists the errors that have no causes: the others only say that there are some.
func (v *Validator) leaves(e *jsonschema.ValidationError, found []finding) []finding {
	if _, either := e.ErrorKind.(*kind.AnyOf); either && slices.Equal(e.InstanceLocation, []string{"date"}) {
		return append(found, newFinding(e.InstanceLocation, "it is neither a date nor a date and time with a zone, as in 2026-01-13T15:00:00Z"))
	}
	for _, cause := range e.Causes {
		found = v.leaves(cause, found)
	}
	if len(e.Causes) == 0 {
		found = append(found, newFinding(e.InstanceLocation, e.ErrorKind.LocalizedString(v.printer)))
	}
	return found
}
