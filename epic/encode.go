package epic

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Encode writes the epic as epic.yml. The same epic gives the same bytes, and reading them gives the same epic, but for
// the line numbers.
func (e *Epic) Encode() ([]byte, error) {
	whole := *e
	whole.Tasks = nil
	n := structNode(reflect.ValueOf(whole))
	n.Content = append(n.Content, textNode("tasks"), tasksNode(e.Tasks))
	text, err := EncodeNode(n)
	if err != nil {
		return nil, fmt.Errorf("encode epic: %w", err)
	}
	return text, nil
}

// EncodeNode writes a node with the indentation of most files.
func EncodeNode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(n), enc.Close())
	return b.Bytes(), err
}

// tasksNode returns a mapping of tasks by their ids.
func tasksNode(tasks []Task) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for i := range tasks {
		n.Content = append(n.Content, textNode(tasks[i].ID), structNode(reflect.ValueOf(tasks[i])))
	}
	return n
}

// structNode returns the mapping of a struct's fields that have a key and are not empty.
func structNode(v reflect.Value) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for f, field := range v.Fields() {
		if key := f.Tag.Get("yaml"); key != "" {
			if value := nodeOf(key, field); value != nil {
				n.Content = append(n.Content, textNode(key), value)
			}
		}
	}
	return n
}

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
		return structNode(v)
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
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for i := range v.Len() {
			n.Content = append(n.Content, cmp.Or(nodeOf("", v.Index(i)), textNode("")))
		}
		if v.Len() > 0 {
			return n
		}
		return nil
	case reflect.String:
		return textNode(v.String())
	case reflect.Float64: // 1e+21 has no dot, which only some readers take for a number
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v.Float(), 'f', -1, 64)}
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(v.Interface())}
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
