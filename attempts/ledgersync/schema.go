package ledgersync

import (
	"bytes"
	_ "embed"
	"encoding/json"

	"relay/attempts/internal/durable"
)

//go:embed entry.schema.json
var entrySchema []byte

// Schema is the JSON Schema (draft 7) of an entry: the base entry of metacog-ledgersync, and the payloads of the five types.
func Schema() json.RawMessage { return bytes.Clone(entrySchema) }

// Validator holds entries against [Schema]. It is not safe for use by several goroutines at once.
type Validator struct{ *durable.Schema }

// NewValidator compiles the schema.
func NewValidator() (*Validator, error) {
	compiled, err := durable.CompileSchema(entrySchema)
	return &Validator{compiled}, err
}
