// Package placed reads JSON and YAML with the places of its values: their lines, and where in the file a scalar stands.
package placed

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/plaintext"
)

// Node is a value with the line it begins in.
type Node struct {
	Line   int    // from 1
	Text   string // of a string or number
	Kind   Kind
	Keys   []string // of an object
	Values []*Node  // of an object or array

	From, To int  // where a scalar stands, in bytes
	Used     bool // Get has returned it
}

// Kind says what a value is.
type Kind uint8

// The kinds of values; Array and all after it have values of their own.
const (
	Null Kind = iota
	String
	Number
	True
	False
	Array
	Object
)

// maxDepth bounds how deep values stand in one another.
const maxDepth = 100

// Parse reads one value, whose first line has a number.
func Parse(data []byte, first int) (*Node, error) {
	p := &parser{data: data, line: first}
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(data, mark) { // spaces, so that no offset changes
		p.data = append([]byte("   "), data[len(mark):]...)
	}
	p.tokens = json.NewDecoder(bytes.NewReader(p.data))
	p.tokens.UseNumber()
	n, err := p.value(0)
	if err == nil {
		if _, more := p.tokens.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the value")
		}
	}
	if err != nil {
		p.advance()
		return nil, &Error{p.line, err}
	}
	return n, nil
}

// YAML reads the first document of a YAML file. Its scalars are texts, of which the plain ones have a place.
func YAML(data []byte) (*Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		line, why := epic.Mistake(err)
		return nil, &Error{max(line, 1), errors.New(why)}
	}
	if len(document.Content) == 0 {
		return &Node{}, nil
	}
	return ofYAML(document.Content[0], data, LineStarts(data)), nil
}

// YAMLBelow reads a YAML file, and only the part from a key on where what stands above it is at fault, as {project-root} is.
func YAMLBelow(data []byte, key string) (*Node, error) {
	n, err := YAML(data)
	if err == nil {
		return n, nil
	}
	data = bytes.Clone(data)
	for i := range bytes.Index(data, []byte("\n"+key+":")) {
		if data[i] != '\n' {
			data[i] = '#'
		}
	}
	return YAML(data)
}

func ofYAML(n *yaml.Node, data []byte, starts []int) *Node {
	out := &Node{Line: n.Line, Kind: map[yaml.Kind]Kind{yaml.ScalarNode: String, yaml.SequenceNode: Array, yaml.MappingNode: Object}[n.Kind]}
	if n.Kind == yaml.ScalarNode {
		out.Text = n.Value
	}
	if n.Kind == yaml.ScalarNode && n.Style == 0 && n.Line <= len(starts) {
		out.From = starts[n.Line-1]
		for range n.Column - 1 { // in characters
			_, size := utf8.DecodeRune(data[out.From:])
			out.From += size
		}
		out.To = out.From + len(n.Value)
	}
	for i, c := range n.Content {
		if out.Kind == Object && i%2 == 0 {
			out.Keys = append(out.Keys, c.Value)
		} else {
			out.Values = append(out.Values, ofYAML(c, data, starts))
		}
	}
	return out
}

// Error is a mistake in a file.
type Error struct {
	Line int
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong, without the line.
func (e *Error) Unwrap() error { return e.Err }

type parser struct {
	data   []byte
	tokens *json.Decoder
	line   int
	seen   int // bytes whose lines are counted
}

// advance counts the lines up to the end of the last token.
func (p *parser) advance() {
	at := min(int(p.tokens.InputOffset()), len(p.data))
	p.line += bytes.Count(p.data[p.seen:at], []byte("\n"))
	p.seen = at
}

func (p *parser) value(depth int) (*Node, error) {
	before := int(p.tokens.InputOffset())
	if depth > maxDepth {
		return nil, fmt.Errorf("values stand more than %d deep in one another", maxDepth)
	}
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	p.advance()
	n := &Node{Line: p.line, To: int(p.tokens.InputOffset())}
	n.From = before + len(p.data[before:n.To]) - len(bytes.TrimLeft(p.data[before:n.To], " \t\r\n:,"))
	switch t := t.(type) {
	case string:
		n.Kind, n.Text = String, t
	case json.Number:
		n.Kind, n.Text = Number, t.String()
	case bool:
		n.Kind = False
		if t {
			n.Kind = True
		}
	case json.Delim:
		return n, p.inside(n, t, depth)
	}
	return n, nil
}

func (p *parser) inside(n *Node, open json.Delim, depth int) error {
	n.Kind = Array
	if open == '{' {
		n.Kind = Object
	}
	for p.tokens.More() {
		if n.Kind == Object {
			key, err := p.token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // More and the decoder see to that
			n.Keys = append(n.Keys, name)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.Values = append(n.Values, v)
	}
	_, err := p.token()
	return err
}

// token returns the next token, where there has to be one.
func (p *parser) token() (json.Token, error) {
	t, err := p.tokens.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}

// Get returns the first of some keys that an object has; nil when it has none of them.
func (n *Node) Get(names ...string) *Node {
	if n == nil || n.Kind != Object {
		return nil
	}
	for _, name := range names {
		for i, key := range n.Keys {
			if key == name && n.Values[i].Kind != Null {
				n.Values[i].Used = true
				return n.Values[i]
			}
		}
	}
	return nil
}

// Has reports whether an object has one of some keys, without using it.
func (n *Node) Has(names ...string) bool {
	return n != nil && slices.ContainsFunc(n.Keys, func(key string) bool { return slices.Contains(names, key) })
}

// String returns a text or a number as text, and "" for all else.
func (n *Node) String() string {
	if n == nil || n.Kind != String && n.Kind != Number {
		return ""
	}
	return strings.TrimSpace(n.Text)
}

// List returns the values of an array.
func (n *Node) List() []*Node {
	if n == nil || n.Kind != Array {
		return nil
	}
	return n.Values
}

// Strings returns the texts of an array, or a text alone.
func (n *Node) Strings() (texts []string) {
	if n != nil && n.Kind != Array && n.Says() {
		return []string{n.Prose()}
	}
	for _, v := range n.List() {
		if text := v.Prose(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// Members returns the texts in an object.
func (n *Node) Members() (texts []string) {
	if n == nil || n.Kind != Object {
		return nil
	}
	return (&Node{Kind: Array, Values: n.Values}).Strings()
}

// Prose returns whatever a value says as text: an object or array as a list.
func (n *Node) Prose() string {
	if n == nil || n.Kind < Array {
		return strings.TrimSpace(plaintext.Clean(n.String()))
	}
	var b strings.Builder
	n.listed(&b, 0)
	return strings.TrimSpace(b.String())
}

func (n *Node) listed(b *strings.Builder, depth int) {
	for i, v := range n.Values {
		b.WriteString(strings.Repeat("  ", min(depth, 4)) + "- ")
		if n.Kind == Object {
			b.WriteString(plaintext.Line(n.Keys[i]) + ": ")
		}
		switch {
		case v.Kind >= Array:
			b.WriteByte('\n')
			v.listed(b, depth+1)
		case v.Kind == True || v.Kind == False:
			fmt.Fprintf(b, "%t\n", v.Kind == True)
		default:
			b.WriteString(plaintext.Line(v.String()) + "\n")
		}
	}
}

// Says reports whether a value says anything: what is empty, 0 or false does not.
func (n *Node) Says() bool {
	return n.Kind == True || n.Kind == String && n.Text != "" || n.Kind == Number && n.Text != "0" || len(n.Values) > 0
}

// Edit replaces a part of a file.
type Edit struct {
	From, To int // offsets in bytes
	Text     string
}

// Becomes returns what replaces a scalar; its zero value when there is none.
func (n *Node) Becomes(text string) Edit {
	if n == nil || n.Kind >= Array {
		return Edit{}
	}
	return Edit{From: n.From, To: n.To, Text: text}
}

// LineStarts returns the offset of each line.
func LineStarts(data []byte) []int {
	starts := []int{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// Apply makes changes, which do not overlap.
func Apply(data []byte, edits []Edit) []byte {
	slices.SortFunc(edits, func(a, b Edit) int { return a.From - b.From })
	var out bytes.Buffer
	at := 0
	for _, e := range edits {
		if e.From < at {
			continue // of an item that is there twice
		}
		out.Write(data[at:e.From])
		out.WriteString(e.Text)
		at = e.To
	}
	out.Write(data[at:])
	return out.Bytes()
}
