package artifact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"relay/attempts/internal/schema"
)

//go:embed artifact.schema.json
var artifactSchema []byte

// Schema is the JSON Schema (draft 7) of an artifact: of front matter and body together.
func Schema() json.RawMessage { return bytes.Clone(artifactSchema) }

// Validator holds artifacts against [Schema], and writes those that meet it. It is not safe for use by several goroutines at once.
type Validator struct{ schema *schema.Schema }

// NewValidator compiles the schema.
func NewValidator() (*Validator, error) {
	compiled, err := schema.Compile(artifactSchema, map[string]schema.Format{"date-time": checkTime})
	if err != nil {
		return nil, err
	}
	return &Validator{compiled}, nil
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
	found := findings(v.schema.Validate(value), nil)
	// Objects are gone through in any order.
	slices.SortFunc(found, func(x, y finding) int { return strings.Compare(x.text, y.text) })
	return slices.CompactFunc(found, func(x, y finding) bool { return x.text == y.text })
}

// findings makes sentences of problems.
func findings(problems []schema.Problem, found []finding) []finding {
	for _, p := range problems {
		switch {
		case p.Either == nil:
			found = append(found, newFinding(p.Path, p.Text))
		case slices.Equal(p.Path, []string{"date"}):
			found = append(found, newFinding(p.Path, "it is neither a date nor a date and time with a zone, as in 2026-01-13T15:00:00Z"))
		default:
			found = findings(p.Either, found)
		}
	}
	return found
}

func checkTime(text string) error {
	_, err := parseTime(text)
	return err
}
