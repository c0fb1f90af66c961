package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// node is a JSON value with the line it begins in.
type node struct {
	line   int
	text   string // of a string or number
	kind   jsonKind
	keys   []string
	values []*node // of an object or array

	from, to int // offsets of a scalar, in bytes
}

type jsonKind uint8

const (
	jsonNull jsonKind = iota
	jsonText
	jsonNumber
	jsonTrue
	jsonFalse
	jsonArray
	jsonObject
)

// maxDepth bounds how deep values stand in one another.
const maxDepth = 100

// parseJSON reads one value.
func parseJSON(data []byte) (*node, error) {
	p := &jsonParser{data: bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), line: 1}
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
		return nil, &jsonError{p.line, err}
	}
	return n, nil
}

// jsonError is a mistake in a JSON file.
type jsonError struct {
	line int
	err  error
}

func (e *jsonError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *jsonError) Unwrap() error { return e.err }

type jsonParser struct {
	data   []byte
	tokens *json.Decoder
	line   int
	seen   int // bytes whose lines are counted
}

// advance counts the lines up to the end of the last token.
func (p *jsonParser) advance() {
	at := min(int(p.tokens.InputOffset()), len(p.data))
	p.line += bytes.Count(p.data[p.seen:at], []byte("\n"))
	p.seen = at
}

func (p *jsonParser) value(depth int) (*node, error) {
	before := int(p.tokens.InputOffset())
	if depth > maxDepth {
		return nil, fmt.Errorf("values stand more than %d deep in one another", maxDepth)
	}
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	p.advance()
	n := &node{line: p.line, to: int(p.tokens.InputOffset())}
	n.from = before + len(p.data[before:n.to]) - len(bytes.TrimLeft(p.data[before:n.to], " \t\r\n:,"))
	switch t := t.(type) {
	case string:
		n.kind, n.text = jsonText, t
	case json.Number:
		n.kind, n.text = jsonNumber, t.String()
	case bool:
		n.kind = jsonFalse
		if t {
			n.kind = jsonTrue
		}
	case json.Delim:
		return n, p.inside(n, t, depth)
	}
	return n, nil
}

func (p *jsonParser) inside(n *node, open json.Delim, depth int) error {
	n.kind = jsonArray
	if open == '{' {
		n.kind = jsonObject
	}
	for p.tokens.More() {
		if n.kind == jsonObject {
			key, err := p.token()
			if err != nil {
				return err
			}
			name, _ := key.(string) // More and the decoder see to that
			n.keys = append(n.keys, name)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		n.values = append(n.values, v)
	}
	_, err := p.token()
	return err
}

// token returns the next token, where there has to be one.
func (p *jsonParser) token() (json.Token, error) {
	t, err := p.tokens.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}

// get returns the first of some keys that an object has; nil when it has none of them.
func (n *node) get(names ...string) *node {
	if n == nil || n.kind != jsonObject {
		return nil
	}
	for _, name := range names {
		for i, key := range n.keys {
			if key == name && n.values[i].kind != jsonNull {
				return n.values[i]
			}
		}
	}
	return nil
}

// string returns a text or a number as text, and "" for all else.
func (n *node) string() string {
	if n == nil || n.kind != jsonText && n.kind != jsonNumber {
		return ""
	}
	return strings.TrimSpace(n.text)
}

// list returns the values of an array.
func (n *node) list() []*node {
	if n == nil || n.kind != jsonArray {
		return nil
	}
	return n.values
}

// strings returns the texts of an array, or a text alone.
func (n *node) strings() (texts []string) {
	if text := n.string(); text != "" {
		return []string{text}
	}
	for _, v := range n.list() {
		if text := v.string(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// becomes returns what replaces a scalar; its zero value when there is none.
func (n *node) becomes(text string) edit {
	if n == nil || n.kind == jsonArray || n.kind == jsonObject {
		return edit{}
	}
	return edit{n.from, n.to, text}
}

// json reads a file of the plan.
func (s source) json(d *draft) (*node, error) {
	data, err := s.text(s.name)
	if err != nil {
		return nil, err
	}
	n, err := parseJSON(data)
	if wrong, ok := errors.AsType[*jsonError](err); ok {
		d.fail(wrong.line, "%v", wrong.err)
	}
	return n, err
}
