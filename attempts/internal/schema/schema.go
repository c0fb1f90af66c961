// Package schema holds JSON values against a JSON Schema: the part of draft 7 that the schemas of artifacts and of entries use. A
// schema with another keyword is refused. Its problems read like those of github.com/santhosh-tekuri/jsonschema, which compiles all
// meta-schemas whenever a program starts that it is part of; the tests hold this package to it.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled schema. It is not safe for use by several goroutines at once.
type Schema struct {
	root    *node
	printer *message.Printer
}

// Format checks a text that is said to have a format.
type Format func(text string) error

// node is one schema inside another. Its first keywords only describe.
type node struct {
	Draft       string          `json:"$schema"`
	ID          string          `json:"$id"`
	Comment     string          `json:"$comment"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Examples    json.RawMessage `json:"examples"`

	Type       string           `json:"type"`
	Const      *string          `json:"const"`
	Enum       []string         `json:"enum"`
	Format     string           `json:"format"`
	Pattern    string           `json:"pattern"`
	MinLength  *int             `json:"minLength"`
	MaxLength  *int             `json:"maxLength"`
	Minimum    *json.Number     `json:"minimum"`
	Maximum    *json.Number     `json:"maximum"`
	Required   []string         `json:"required"`
	Properties map[string]*node `json:"properties"`
	Additional *additional      `json:"additionalProperties"`
	Items      *node            `json:"items"`
	AllOf      []*node          `json:"allOf"`
	AnyOf      []*node          `json:"anyOf"`
	OneOf      []*node          `json:"oneOf"`
	If         *node            `json:"if"`
	Then       *node            `json:"then"`

	format           Format
	pattern          *regexp.Regexp
	minimum, maximum *big.Rat
}

// additional is what additionalProperties says: true, or a schema.
type additional struct{ *node }

// UnmarshalJSON reads true or a schema. It fails for false.
func (a *additional) UnmarshalJSON(text []byte) error {
	if string(text) == "true" {
		return nil
	}
	return decodeStrictly(text, &a.node)
}

// Compile reads a schema. It fails for one that has keywords or values that this package does not know, or another format than those
// given.
func Compile(text []byte, formats map[string]Format) (*Schema, error) {
	var root *node
	if err := decodeStrictly(text, &root); err != nil {
		return nil, err
	}
	if err := root.compile(formats); err != nil {
		return nil, err
	}
	return &Schema{root: root, printer: message.NewPrinter(language.English)}, nil
}

func decodeStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	d.UseNumber()
	return d.Decode(into)
}

// compile prepares a node and those inside it.
func (n *node) compile(formats map[string]Format) (err error) {
	if !slices.Contains([]string{"", "null", "boolean", "number", "integer", "string", "array", "object"}, n.Type) {
		return fmt.Errorf("there is no type %q", n.Type)
	}
	if n.Format != "" {
		if n.format = formats[n.Format]; n.format == nil {
			return fmt.Errorf("there is no format %q", n.Format)
		}
	}
	if n.Pattern != "" {
		if n.pattern, err = regexp.Compile(n.Pattern); err != nil {
			return err
		}
	}
	if n.minimum, err = rational(n.Minimum); err != nil {
		return err
	}
	if n.maximum, err = rational(n.Maximum); err != nil {
		return err
	}
	for inner := range n.inner {
		if err := inner.compile(formats); err != nil {
			return err
		}
	}
	return nil
}

// inner calls yield with the schemas inside this one.
func (n *node) inner(yield func(*node) bool) {
	all := slices.Concat(n.AllOf, n.AnyOf, n.OneOf, []*node{n.Items, n.If, n.Then})
	if n.Additional != nil {
		all = append(all, n.Additional.node)
	}
	for _, p := range n.Properties {
		all = append(all, p)
	}
	for _, inner := range all {
		if inner != nil && !yield(inner) {
			return
		}
	}
}

// rational returns the value of a limit, and nil where there is none.
func rational(n *json.Number) (*big.Rat, error) {
	if n == nil {
		return nil, nil //nolint:nilnil // no limit
	}
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		return nil, fmt.Errorf("%s is no limit", n)
	}
	return r, nil
}

// Decode reads one JSON value, whose numbers stay as they are written. It fails when anything else follows.
func Decode(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("invalid character after top-level value")
	}
	return value, nil
}
