package epic

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Encode writes the epic as epic.yml. The same epic gives the same bytes, and reading them gives the same epic, but for
// the line numbers.
func (e *Epic) Encode() ([]byte, error) {
	var out bytes.Buffer
	whole := *e
	whole.Tasks = nil
	head := &mapping{}
	head.fields(reflect.ValueOf(whole))
	if err := encode(&out, &head.Node, ""); err != nil {
		return nil, err
	}
	out.WriteString("tasks:\n")
	for some := range slices.Chunk(e.Tasks, 64) {
		// A few tasks at a time: the nodes of them all would take many times the memory of the text.
		tasks := &mapping{}
		for i := range some {
			tasks.put(some[i].ID, taskNode(&some[i]))
		}
		if err := encode(&out, &tasks.Node, "  "); err != nil {
			return nil, err
		}
	}
	if len(e.Tasks) == 0 {
		out.Truncate(out.Len() - 1)
		out.WriteString(" {}\n")
	}
	return out.Bytes(), nil
}

// encode writes one mapping, each line behind the indent.
func encode(out *bytes.Buffer, n *yaml.Node, indent string) error {
	n.Kind = yaml.MappingNode
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return fmt.Errorf("encode epic: %w", err)
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("encode epic: %w", err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		if len(line) > 1 {
			out.WriteString(indent)
		}
		out.Write(line)
	}
	return nil
}

func taskNode(t *Task) *yaml.Node { return nodeOf("", reflect.ValueOf(*t)) }

// nodeOf returns the node of a value below a key; nil when it is left out: it is empty, or what a file means that does not say.
func nodeOf(key string, v reflect.Value) *yaml.Node {
	switch x := v.Interface().(type) {
	case Check:
		if x.Name == x.Run {
			x.Name = ""
		}
		if x == (Check{Run: x.Run, Expect: ExpectPass}) {
			return textNode(x.Run)
		}
		v = reflect.ValueOf(x)
	case Criterion:
		if x.Check == "" {
			return textNode(x.Text)
		}
	case time.Duration:
		v = reflect.ValueOf(x.Minutes())
	}
	switch {
	case v.Kind() == reflect.Struct:
		m := &mapping{}
		m.fields(v)
		return m.node()
	case key == "priority" && v.Int() >= 0 && v.Int() < int64(len(priorities)):
		return textNode(priorities[v.Int()])
	case v.IsZero() && key != "version", key == "priority", v.Interface() == KindFeature, v.Interface() == ExpectPass:
		return nil
	default:
		return plainNode(v)
	}
}

// plainNode returns the node of a list, a text or a number.
func plainNode(v reflect.Value) *yaml.Node {
	switch v.Kind() {
	case reflect.Slice:
		return listNode(v)
	case reflect.String:
		return textNode(v.String())
	case reflect.Float64: // 1e+21 has no dot, which only some readers take for a number
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v.Float(), 'f', -1, 64)}
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v.Interface())}
	}
}

// listNode returns the node of a list, nil for an empty one.
func listNode(v reflect.Value) *yaml.Node {
	if v.Len() == 0 {
		return nil
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range v.Len() {
		if v.Index(i).Kind() == reflect.String {
			n.Content = append(n.Content, textNode(v.Index(i).String()))
		} else {
			n.Content = append(n.Content, nodeOf("", v.Index(i)))
		}
	}
	return n
}

// mapping is a YAML mapping under construction. What is empty is left out.
type mapping struct{ yaml.Node }

func (m *mapping) node() *yaml.Node {
	m.Kind = yaml.MappingNode
	return &m.Node
}

func (m *mapping) put(key string, value *yaml.Node) {
	m.Content = append(m.Content, textNode(key), value)
}

// fields puts the fields of a struct that have a key.
func (m *mapping) fields(v reflect.Value) {
	for f, value := range v.Fields() {
		if key := f.Tag.Get("yaml"); key != "" {
			if n := nodeOf(key, value); n != nil {
				m.put(key, n)
			}
		}
	}
}

// textNode chooses a style that gives back exactly the text.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case !strings.ContainsFunc(s, escaped) && !strings.ContainsAny(s, "\n"):
	case strings.ContainsFunc(s, escaped) || s != strings.TrimLeft(s, " \n") || strings.Contains(s, " \n") || strings.HasSuffix(s, " "):
		n.Style = yaml.DoubleQuotedStyle
	default:
		n.Style = yaml.LiteralStyle
	}
	return n
}

// escaped tells the characters that only a double-quoted scalar carries safely.
func escaped(r rune) bool {
	return r != '\n' && !unicode.IsPrint(r)
}
