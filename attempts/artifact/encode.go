package artifact

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"relay/internal/lazyregexp"
)

var versionOf = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

func (a *Artifact) parts() (front, body Map) {
	said := *a
	if said.Goal, said.Now = quotable(a.Goal), quotable(a.Now); !versionOf.MatchString(a.Version) {
		said.Version = SchemaVersion
	}
	fields, known := fieldsOf(reflect.ValueOf(&said).Elem()), map[string]bool{"event_type": true}
	for _, f := range fields {
		known[f.key] = true
	}
	return written(fields[:frontFields]), append(written(fields[frontFields:]), cleanMap(a.Extra, known)...)
}

// Map returns everything that the file of an artifact says, in the order of the file.
func (a *Artifact) Map() Map {
	front, body := a.parts()
	return append(front, body...)
}

// Encode returns the text of an artifact's file. What drives a terminal is taken out of texts, and what is no UTF-8. An artifact that
// [Schema] refuses is an error.
func (v *Validator) Encode(a *Artifact) ([]byte, error) {
	if problems := v.Check(a.Map().value()); len(problems) > 0 {
		return nil, fmt.Errorf("the artifact is invalid: %s", strings.Join(problems, "; "))
	}
	front, body := a.parts()
	var b bytes.Buffer
	b.WriteString("---\n")
	if err := writeMap(&b, front, "mode", "outcome"); err != nil {
		return nil, err
	}
	// The schema has found both keys: they come first.
	fmt.Fprintf(&b, "---\n\ngoal: %s\nnow: %s\n", quoted(quotable(a.Goal)), quoted(quotable(a.Now)))
	if err := writeMap(&b, body[2:]); err != nil {
		return nil, err
	}
	if b.Len() > MaxSize {
		return nil, fmt.Errorf("the artifact has %d bytes, and may have %d", b.Len(), MaxSize)
	}
	return b.Bytes(), nil
}
