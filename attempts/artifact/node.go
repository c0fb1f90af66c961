package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/epic/pattern"
	"relay/epic/plaintext"
)

// Limits of what a file can make of itself: the depth of its values, and their number once aliases stand for what they name.
const (
	maxDepth  = 100
	maxValues = 100_000
)

// jsonNumber is a number that YAML 1.1, YAML 1.2 and JSON read alike.
var jsonNumber = pattern.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// nodeReader copies YAML nodes in the form that all readers take alike, and remembers the lines on which they are.
type nodeReader struct {
	offset   int            // what is added to the lines of nodes
	lines    map[string]int // by path
	problems []Problem
	values   int
}

// node copies a node without aliases and duplicate keys, of which the last one counts. Texts are clean; numbers that YAML versions read
// differently, and dates, become text.
func (r *nodeReader) node(n *yaml.Node, path string, depth int) (*yaml.Node, error) {
	if r.values++; r.values > maxValues || depth > maxDepth {
		return nil, errors.New("its values are too many or too deep in each other")
	}
	if n.Kind == yaml.AliasNode {
		return r.node(n.Alias, path, depth+1)
	}
	if _, known := r.lines[path]; !known {
		r.lines[path] = n.Line + r.offset
	}
	if n.Kind == yaml.ScalarNode {
		return r.scalar(n), nil
	}
	out := &yaml.Node{Kind: n.Kind}
	for i, item := range n.Content {
		at, key := path+"/"+strconv.Itoa(i), ""
		if n.Kind == yaml.MappingNode {
			k := epic.Follow(n.Content[i&^1])
			if k.Kind != yaml.ScalarNode {
				return nil, fmt.Errorf("line %d: a key is not a text", k.Line+r.offset)
			}
			if i%2 == 0 {
				continue
			}
			key = oneLine(k.Value)
			at = path + "/" + key
		}
		v, err := r.node(item, at, depth+1)
		switch {
		case err != nil:
			return nil, err
		case n.Kind == yaml.MappingNode:
			r.put(out, at, key, v, n.Content[i-1].Line+r.offset)
		default:
			out.Content = append(out.Content, v)
		}
	}
	return out, nil
}

// put gives a mapping a key, or replaces the one that is there.
func (r *nodeReader) put(to *yaml.Node, path, key string, v *yaml.Node, line int) {
	if old := epic.ValueAt(to, key); old != nil {
		r.problems = append(r.problems, Problem{
			Line: line, Message: fmt.Sprintf("%q is there twice", plaintext.Head(key, 100)), Hint: "other readers see nothing of such a file: keep one of the two",
		})
		*old = *v
		return
	}
	r.lines[path] = line
	to.Content = append(to.Content, textNode(key), v)
}

func (r *nodeReader) scalar(n *yaml.Node) *yaml.Node {
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: "null"}
	case "!!bool":
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: strings.ToLower(n.Value)}
	case "!!int", "!!float":
		if number, err := strconv.ParseFloat(n.Value, 64); err == nil && !math.IsInf(number, 0) && jsonNumber.MatchString(n.Value) {
			return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: n.Value}
		}
		r.warn(n, fmt.Sprintf("%s is a number for some readers", n.Value))
	case "!!str":
		if n.Style == 0 && slices.Contains(oldBooleans(), strings.ToLower(n.Value)) {
			r.warn(n, n.Value+" is true or false for readers of YAML 1.1")
		}
	}
	return textNode(n.Value)
}

func (r *nodeReader) warn(n *yaml.Node, message string) {
	r.problems = append(r.problems, Problem{Line: n.Line + r.offset, Message: message, Hint: "put it in quotes", Warning: true})
}

// oldBooleans are words that YAML 1.1 takes for true or false.
func oldBooleans() []string { return []string{"y", "n", "yes", "no", "on", "off"} }

// textNode makes a node of a text: in quotes, or as a block if it has several lines and no reader can mistake them.
func textNode(s string) *yaml.Node {
	s = plaintext.Clean(s)
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	if strings.Contains(s, "\n") && !strings.HasSuffix(s, "\n\n") && strings.TrimLeft(s, " \t\n") == s {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// textOf returns a value as text. A mapping in a list is most often a text with a colon that has no quotes.
func textOf(n *yaml.Node) string {
	switch {
	case n == nil || n.Tag == "!!null":
		return ""
	case n.Kind == yaml.ScalarNode:
		return n.Value
	}
	var parts []string
	for i, v := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			parts = append(parts, textOf(v))
		case i%2 == 1:
			parts = append(parts, n.Content[i-1].Value+": "+textOf(v))
		}
	}
	return strings.Join(parts, "; ")
}

// fit gives a node the form of a Go type: it takes a value of another form for its most likely meaning. self is the key of a struct that
// a text in place of the struct stands for.
func fit(n *yaml.Node, t reflect.Type, line bool) {
	null := n.Tag == "!!null"
	switch reflect.New(t).Interface().(type) {
	case *Notes, *Decisions:
		return
	case *Decision:
		if n.Kind == yaml.MappingNode && epic.ValueAt(n, "decision") == nil {
			*n = *textNode(textOf(n))
		}
	}
	switch t.Kind() { //nolint:exhaustive // artifacts have no other kinds
	case reflect.String:
		text := textOf(n)
		if line {
			text = oneLine(text)
		}
		*n = *textNode(text)
	case reflect.Pointer:
		if !null {
			fit(n, t.Elem(), line)
		}
	case reflect.Slice:
		if !null {
			wrap(n, yaml.SequenceNode)
		}
		for _, item := range n.Content {
			fit(item, t.Elem(), line)
		}
	case reflect.Map:
		if !null {
			wrap(n, yaml.MappingNode, textNode("value"))
		}
	case reflect.Struct:
		fitFields(n, t)
	}
}

// wrap puts a node of another kind into a list or mapping, behind a key.
func wrap(n *yaml.Node, kind yaml.Kind, key ...*yaml.Node) {
	if n.Kind != kind {
		item := *n
		*n = yaml.Node{Kind: kind, Content: append(key, &item)}
	}
}

func fitFields(n *yaml.Node, t reflect.Type) {
	text := *n
	isMap := n.Kind == yaml.MappingNode
	if !isMap {
		*n = yaml.Node{Kind: yaml.MappingNode}
	}
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		form := f.Tag.Get("form")
		if !isMap && strings.Contains(form, "self") && text.Tag != "!!null" {
			n.Content = append(n.Content, textNode(key), &text)
		}
		if v := epic.ValueAt(n, key); v != nil && key != "" {
			fit(v, f.Type, strings.Contains(form, "line"))
		}
	}
}

// MarshalYAML writes decisions as a mapping, which every reader takes, unless that would lose something.
func (list Decisions) MarshalYAML() (any, error) {
	var notes Notes
	for _, d := range list {
		if len(d.Alternatives) > 0 || d.WhyThis != "" || len(d.Extra) > 0 {
			return []Decision(list), nil
		}
		notes = append(notes, Note{d.Decision, d.Rationale})
	}
	return notes.MarshalYAML()
}

// UnmarshalYAML reads decisions from a mapping or a list.
func (list *Decisions) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		fit(n, reflect.TypeFor[[]Decision](), false)
		return n.Decode((*[]Decision)(list))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		*list = append(*list, Decision{Decision: n.Content[i].Value, Rationale: textOf(n.Content[i+1])})
	}
	return nil
}

// MarshalYAML writes notes as a mapping. Keys that are alike once they are clean get a number.
func (list Notes) MarshalYAML() (any, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, note := range list {
		key := oneLine(note.Key)
		for i := 2; epic.ValueAt(n, key) != nil; i++ {
			key = oneLine(fmt.Sprintf("%s (%d)", oneLine(note.Key), i))
		}
		n.Content = append(n.Content, textNode(key), textNode(note.Text))
	}
	return n, nil
}

// UnmarshalYAML reads notes from a mapping, or from a list, whose notes are numbered.
func (list *Notes) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			*list = append(*list, Note{n.Content[i].Value, textOf(n.Content[i+1])})
		}
		return nil
	}
	fit(n, reflect.TypeFor[[]string](), false)
	for i, item := range n.Content {
		*list = append(*list, Note{strconv.Itoa(i + 1), item.Value})
	}
	return nil
}

// Node returns what the file of an artifact says, in its order.
func (a *Artifact) Node() *yaml.Node { return nodeOf(a) }

// MarshalJSON writes what the file of an artifact says, in its order.
func (a *Artifact) MarshalJSON() ([]byte, error) { return jsonOf(nodeOf(a)) }

func jsonOf(n *yaml.Node) ([]byte, error) {
	if n.Kind == yaml.ScalarNode {
		v, err := valueOf(n)
		if err != nil {
			return nil, err
		}
		return json.Marshal(v)
	}
	var parts [][]byte
	for i, item := range n.Content {
		isKey := n.Kind == yaml.MappingNode && i%2 == 0
		if isKey {
			item = textNode(item.Value) // a key is a text, whatever it looks like
		}
		part, err := jsonOf(item)
		if err != nil {
			return nil, err
		}
		if n.Kind == yaml.MappingNode && !isKey {
			parts[len(parts)-1] = slices.Concat(parts[len(parts)-1], []byte(":"), part)
			continue
		}
		parts = append(parts, part)
	}
	list := bytes.Join(parts, []byte(","))
	if n.Kind == yaml.MappingNode {
		return slices.Concat([]byte("{"), list, []byte("}")), nil
	}
	return slices.Concat([]byte("["), list, []byte("]")), nil
}

// valueOf returns a node as the JSON Schema takes it.
func valueOf(n *yaml.Node) (v any, err error) { return v, n.Decode(&v) }

// oneLine is a text on one line, without what drives a terminal.
func oneLine(s string) string { return plaintext.Line(s) }
