package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"

	"relay/epic/plaintext"
)

//go:embed report.schema.json
var schema []byte

// Schema returns the JSON Schema of what JSON writes.
func Schema() json.RawMessage { return bytes.Clone(schema) }

// JSON writes the report as one JSON object.
func (r *Report) JSON(w io.Writer) error {
	return plaintext.WriteJSON(w, r, "  ")
}
