package ledgersync

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

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
	compiled, err := durable.CompileSchema(entrySchema, map[string]durable.Format{"uuid": checkUUID, "date-time": func(text string) error {
		_, err := parseTime(text)
		return err
	}})
	return &Validator{compiled}, err
}

// checkUUID takes what the program does: a UUID, also as a URN.
func checkUUID(text string) error {
	if len(text) != 36 && len(text) != len("urn:uuid:")+36 {
		return errors.New("a UUID has 36 characters")
	}
	return uuid.Validate(text)
}

// parseTime reads a date and time with its zone, in the ways that the program takes: with a space in place of T, and a zone without
// colon. A leap second is the last second of its minute.
func parseTime(text string) (time.Time, error) {
	normal := strings.ToUpper(text)
	if len(normal) > 10 && normal[10] == ' ' {
		normal = normal[:10] + "T" + normal[11:]
	}
	if strings.HasSuffix(normal, "Z") {
		normal = strings.Replace(normal, "T23:59:60", "T23:59:59", 1)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07"} {
		if at, err := time.Parse(layout, normal); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date and time with a zone, as in 2026-01-16T06:20:00Z", text)
}
