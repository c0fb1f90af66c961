package ledgersync

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed entry.schema.json
var entrySchema []byte

// Schema is the JSON Schema (draft 7) of an entry: the base entry of metacog-ledgersync, and the payloads of the five types.
func Schema() json.RawMessage { return bytes.Clone(entrySchema) }

// Validator holds entries against [Schema]. It is not safe for use by several goroutines at once.
type Validator struct {
	schema  *jsonschema.Schema
	printer *message.Printer
}

// NewValidator compiles the schema.
func NewValidator() (*Validator, error) {
	text, err := jsonschema.UnmarshalJSON(bytes.NewReader(entrySchema))
	if err != nil {
		return nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "uuid", Validate: onText(checkUUID)})
	compiler.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: onText(checkTime)})
	const name = "entry.schema.json"
	if err := compiler.AddResource(name, text); err != nil {
		return nil, err
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		return nil, err
	}
	return &Validator{schema: schema, printer: message.NewPrinter(language.English)}, nil
}

// Check returns what is wrong with one line, a sentence each, in alphabetical order. None: it is a valid entry.
func (v *Validator) Check(line []byte) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return []string{"it is not JSON: " + err.Error()}
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](v.schema.Validate(value))
	if !ok {
		return nil
	}
	found := v.leaves(invalid, nil)
	slices.Sort(found) // the validator goes through objects in any order
	return found
}

// leaves lists the errors that have no causes: the others only say that there are some.
func (v *Validator) leaves(e *jsonschema.ValidationError, found []string) []string {
	for _, cause := range e.Causes {
		found = v.leaves(cause, found)
	}
	if len(e.Causes) == 0 {
		at, what := strings.Join(e.InstanceLocation, "."), e.ErrorKind.LocalizedString(v.printer)
		if at != "" {
			what = at + ": " + what
		}
		if !slices.Contains(found, what) {
			found = append(found, what)
		}
	}
	return found
}

// onText makes a check of texts one of values: what is no text is not for a format to judge.
func onText(check func(text string) error) func(any) error {
	return func(v any) error {
		if text, ok := v.(string); ok {
			return check(text)
		}
		return nil
	}
}

// checkUUID takes what the program does: a UUID, also as a URN.
func checkUUID(text string) error {
	if len(text) != 36 && len(text) != len("urn:uuid:")+36 {
		return errors.New("a UUID has 36 characters")
	}
	return uuid.Validate(text)
}

func checkTime(text string) error {
	_, err := parseTime(text)
	return err
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
	return time.Time{}, fmt.Errorf("%q is no date and time with a zone, as in 2026-01-16T06:20:00Z", text)
}
