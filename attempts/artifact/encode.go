package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/internal/lazyregexp"
)

var versionOf = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// parts returns the keys and values of front matter and body.
func (a *Artifact) parts() (front, body *yaml.Node) {
	said := *a
	if said.Goal, said.Now = quotable(a.Goal), quotable(a.Now); !versionOf.MatchString(a.Version) {
		said.Version = SchemaVersion
	}
	fields, known := fieldsOf(reflect.ValueOf(&said).Elem()), []*yaml.Node{keyNode("event_type"), nil}
	for _, f := range fields {
		known = append(known, keyNode(f.key), nil)
	}
	front, body = collection(yaml.MappingNode, nodes(fields[:frontFields])), collection(yaml.MappingNode, nodes(fields[frontFields:]))
	body.Content = append(body.Content, mapNodes(a.Extra, known)...)
	return front, body
}

// Map returns everything that the file of an artifact says, in the order of the file.
func (a *Artifact) Map() Map {
	front, body := a.parts()
	front.Content = append(front.Content, body.Content...)
	reader := nodeReader{lines: make(map[string]int), values: math.MinInt}
	v, _ := reader.value(front, "", 0) // no deeper than what was read
	m, _ := v.(Map)
	return m
}

// Encode returns the text of an artifact's file. What drives a terminal is taken out of texts, and what is no UTF-8. An artifact that
// [Schema] refuses is an error.
func (v *Validator) Encode(a *Artifact) ([]byte, error) {
	if problems := v.Check(a.Map().value()); len(problems) > 0 {
		return nil, fmt.Errorf("the artifact is invalid: %s", strings.Join(problems, "; "))
	}
	front, body := a.parts()
	for i := 0; i < len(front.Content); i += 2 {
		if key := front.Content[i].Value; key == "mode" || key == "outcome" {
			front.Content[i+1].Style = 0
		}
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	err := write(&b, front)
	// The schema has found both keys: they come first.
	fmt.Fprintf(&b, "---\n\ngoal: %s\nnow: %s\n", quoted(quotable(a.Goal)), quoted(quotable(a.Now)))
	if body.Content = body.Content[4:]; len(body.Content) > 0 {
		err = errors.Join(err, write(&b, body))
	}
	if err == nil && b.Len() > MaxSize {
		err = fmt.Errorf("the artifact has %d bytes, and may have %d", b.Len(), MaxSize)
	}
	return b.Bytes(), err
}

func write(b *bytes.Buffer, n *yaml.Node) error {
	enc := yaml.NewEncoder(b)
	enc.SetIndent(2)
	return errors.Join(enc.Encode(n), enc.Close())
}
