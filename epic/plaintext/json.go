package plaintext

import (
	"encoding/json"
	"io"
)

// WriteJSON writes a value as JSON without escapes for HTML, and a line break. Without an indent it is one line.
func WriteJSON(w io.Writer, value any, indent string) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	return enc.Encode(value)
}
