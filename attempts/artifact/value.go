package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/attempts/internal/schema"
	"relay/epic"
	"relay/internal/lazyregexp"
	"relay/internal/plaintext"
)

// Map is a YAML mapping with its keys in order. A value is nil, a bool, a string, a number, a []any, a []string, a Map or a
// map[string]any; numbers that were read are of type json.Number.
type Map []Field

// Field is one key of a Map.
type Field struct {
	Key   string
	Value any
}

// Get returns the value of a key.
func (m Map) Get(key string) (value any, ok bool) {
	for _, f := range m {
		if f.Key == key {
			return f.Value, true
		}
	}
	return nil, false
}

// MarshalJSON writes an object with the keys in order.
func (m Map) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range m {
		object, err := json.Marshal(map[string]any{f.Key: f.Value})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(object[1 : len(object)-1])
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Limits of what a file can make of itself: how deep values lie in each other, and how many there are once aliases stand for what
// they name.
const (
	maxDepth  = 100
	maxValues = 100_000
)

// jsonNumber is a number that YAML 1.1, YAML 1.2 and JSON read alike.
var jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// nodeReader makes values of YAML nodes, and remembers the lines on which they are.
type nodeReader struct {
	offset   int            // what is added to the lines of nodes
	lines    map[string]int // by path
	problems []Problem
	values   int
}

// value makes a value of a node. Numbers that YAML versions read differently, and dates, become text.
func (r *nodeReader) value(n *yaml.Node, path string, depth int) (any, error) {
	if r.values++; r.values > maxValues || depth > maxDepth {
		return nil, errors.New("its values are too many or too deep in each other")
	}
	if _, known := r.lines[path]; !known {
		r.lines[path] = n.Line + r.offset
	}
	switch n.Kind {
	case yaml.AliasNode:
		return r.value(n.Alias, path, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			v, err := r.value(item, path+"/"+strconv.Itoa(i), depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return r.mapping(n, path, depth)
	case yaml.ScalarNode, yaml.DocumentNode:
	}
	return r.scalar(n), nil
}

func (r *nodeReader) scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if jsonNumber.MatchString(n.Value) {
			return json.Number(n.Value)
		}
		r.warn(n, fmt.Sprintf("%s is a number for some readers", n.Value))
	case "!!str":
		if n.Style == 0 && slices.Contains(oldBooleans(), strings.ToLower(n.Value)) {
			r.warn(n, n.Value+" is true or false for readers of YAML 1.1")
		}
	}
	return plaintext.Clean(n.Value)
}

func (r *nodeReader) warn(n *yaml.Node, message string) {
	r.problems = append(r.problems, Problem{Line: n.Line + r.offset, Message: message, Hint: "put it in quotes", Warning: true})
}

// oldBooleans are words that YAML 1.1 takes for true or false.
func oldBooleans() []string { return []string{"y", "n", "yes", "no", "on", "off"} }

// mapping makes a Map. Of a key that is there twice the last one counts.
func (r *nodeReader) mapping(n *yaml.Node, path string, depth int) (any, error) {
	m := make(Map, 0, len(n.Content)/2)
	at := make(map[string]int)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := epic.Follow(n.Content[i])
		if k.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key is no text", k.Line+r.offset)
		}
		key := oneLine(k.Value)
		v, err := r.value(n.Content[i+1], path+"/"+key, depth+1)
		if err != nil {
			return nil, err
		}
		if before, twice := at[key]; twice {
			r.problems = append(r.problems, duplicate(n.Content[i].Line+r.offset, key))
			m[before].Value = v
			continue
		}
		r.lines[path+"/"+key] = n.Content[i].Line + r.offset
		at[key] = len(m)
		m = append(m, Field{key, v})
	}
	return m, nil
}

func duplicate(line int, key string) Problem {
	return Problem{Line: line, Message: fmt.Sprintf("%q is there twice", plaintext.Head(key, 100)), Hint: "other readers see nothing of such a file: keep one of the two"}
}

// value returns a Map as the JSON Schema takes it: of maps, lists, texts, numbers, booleans and nil.
func (m Map) value() any {
	text, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	v, _ := schema.Decode(text) // what was encoded just now
	return v
}

// oneLine is a text on one line, without what drives a terminal.
func oneLine(s string) string { return plaintext.Line(s) }
