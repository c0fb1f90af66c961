package artifact

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"relay/attempts/internal/durable"
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

// Check returns what is wrong with an artifact as a JSON value, a sentence each, in alphabetical order. None: it is valid.
func (v *Validator) Check(value any) (problems []string) { return durable.Sentences(v.check(value)) }

// check is Check that also says where.
func (v *Validator) check(value any) (found []durable.Problem) {
	for _, p := range v.schema.Validate(value) {
		if strings.Contains(p.Text, "is not valid date") {
			p.Text = "it is neither a date nor a date and time with a zone, as in 2026-01-13T15:00:00Z"
		}
		found = append(found, p)
	}
	return slices.CompactFunc(found, func(x, y durable.Problem) bool { return x.String() == y.String() })
}
