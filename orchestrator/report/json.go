package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
)

//go:embed report.schema.json
var schema []byte

// Schema returns the JSON Schema of what JSON writes.
func Schema() json.RawMessage { return bytes.Clone(schema) }

// JSON writes the report as one JSON object. It goes task by task: of a long epic the whole would take more memory than all
// of relay may have.
func (r *Report) JSON(w io.Writer) error {
	head := *r
	head.Tasks = []Task{}
	text, err := marshal(head, "")
	if err != nil {
		return err
	}
	text = bytes.TrimSuffix(text, []byte("[]\n}")) // the tasks come last
	if _, err := w.Write(append(text, '[')); err != nil {
		return err
	}
	for i := range r.Tasks {
		text, err := marshal(&r.Tasks[i], "    ")
		if err != nil {
			return err
		}
		comma := ","
		if i == 0 {
			comma = ""
		}
		if _, err := io.WriteString(w, comma+"\n    "+string(text)); err != nil {
			return err
		}
	}
	end := "]\n}\n"
	if len(r.Tasks) > 0 {
		end = "\n  " + end
	}
	_, err = io.WriteString(w, end)
	return err
}

// marshal returns one value over several lines, of which all but the first begin with prefix.
func marshal(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, "  ")
	err := enc.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
