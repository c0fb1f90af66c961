package artifact

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"relay/attempts/internal/durable"
	"relay/epic"
)

//go:embed artifact.schema.json
var artifactSchema []byte

// Schema is the JSON Schema (draft 7) of an artifact: of front matter and body together.
func Schema() json.RawMessage { return bytes.Clone(artifactSchema) }

// Validator holds artifacts against [Schema], and writes those that meet it. It is not safe for use by several goroutines at once.
type Validator struct{ schema *durable.Schema }

// NewValidator compiles the schema.
func NewValidator() (*Validator, error) {
	compiled, err := durable.CompileSchema(artifactSchema)
	return &Validator{compiled}, err
}

// check returns what is wrong with an artifact as a JSON value, in alphabetical order. None: it is valid.
func (v *Validator) check(value any) (found []durable.Problem) {
	for _, p := range v.schema.Validate(value) {
		if strings.Contains(p.Text, "is not valid date") {
			p.Text = "it is neither a date nor a date and time with a zone, as in 2026-01-13T15:00:00Z"
		}
		found = append(found, p)
	}
	return slices.CompactFunc(found, func(x, y durable.Problem) bool { return x.String() == y.String() })
}

// Problem is what is wrong with one line of a file.
type Problem = durable.SchemaFault

const schemaHint = "relay artifact validate --schema prints what an artifact needs"

// Validate returns the problems of the text of a file, in the order of lines and messages.
func (v *Validator) Validate(text []byte) []Problem {
	d, err := parse(text)
	if err != nil {
		line := 1
		if wrong, ok := errors.AsType[*SyntaxError](err); ok {
			line, err = wrong.Line, errors.New("it is not YAML as artifacts have it: "+wrong.Message)
		}
		return []Problem{{Line: line, Message: err.Error(), Hint: "texts with a colon or a # belong in quotes"}}
	}
	problems := d.problems
	value, _ := valueOf(d.root) // it has been read
	for _, f := range v.check(value) {
		path, hint := f.Path, hintOf(f)
		if epic.ValueAt(d.root, "mode") == nil && strings.HasSuffix(f.Text, "'primary_bead'") {
			continue // without a mode it would be required in every mode
		}
		if epic.ValueAt(d.root, "event_type") != nil && strings.Contains(f.Text, "'mode'") {
			path, hint = []string{"event_type"}, "the file has the older layout: write mode in place of event_type"
		}
		problems = append(problems, Problem{Line: d.lineOf(path), Message: f.String(), Hint: hint})
	}
	slices.SortStableFunc(problems, func(x, y Problem) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), strings.Compare(x.Message, y.Message))
	})
	return problems
}

// lineOf is the line of a value, or of the nearest one around it.
func (d *document) lineOf(path []string) int {
	for n := len(path); n > 0; n-- {
		if line, ok := d.lines["/"+strings.Join(path[:n], "/")]; ok {
			return line
		}
	}
	return 1
}

func hintOf(f durable.Problem) string {
	switch {
	case strings.HasPrefix(f.Text, "got number") || strings.HasPrefix(f.Text, "got boolean"):
		return "put it in quotes"
	case strings.Contains(f.Text, "'primary_bead'"):
		return "handoff and finalize name what the work is about"
	}
	return schemaHint
}
