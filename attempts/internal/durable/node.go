package durable

import (
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Node returns a value as the YAML library writes it, with texts as text makes them: the library itself writes some texts of several lines
// such that it cannot read them. Structs have the keys of their yaml tags, and maps their keys in alphabetical order.
func Node(v reflect.Value, text func(string) *yaml.Node) *yaml.Node {
	n := &yaml.Node{}
	if m, ok := reflect.TypeAssert[yaml.Marshaler](v); ok {
		of, _ := m.MarshalYAML() // those of relay's types do not fail
		return Node(reflect.ValueOf(of), text)
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			if n, ok := reflect.TypeAssert[*yaml.Node](v); ok {
				return n
			}
			return Node(v.Elem(), text)
		}
		n.Kind, n.Tag, n.Value = yaml.ScalarNode, "!!null", "null"
	case reflect.String:
		return text(v.String())
	case reflect.Slice:
		n.Kind = yaml.SequenceNode
		for i := range v.Len() {
			n.Content = append(n.Content, Node(v.Index(i), text))
		}
	case reflect.Map:
		n.Kind = yaml.MappingNode
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			n.Content = append(n.Content, text(key.String()), Node(v.MapIndex(key), text))
		}
	case reflect.Struct:
		n.Kind, n.Content = yaml.MappingNode, pairs(v, text)
	default:
		_ = n.Encode(v.Interface()) // a number, true or false
	}
	if n.Kind != yaml.ScalarNode && len(n.Content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

// pairs returns the keys and values of a struct.
func pairs(v reflect.Value, text func(string) *yaml.Node) (list []*yaml.Node) {
	for about, field := range v.Fields() {
		key, options, _ := strings.Cut(about.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			list = append(list, Node(field, text).Content...)
		case options != "omitempty" || !field.IsZero() && (field.Kind() != reflect.Slice || field.Len() > 0):
			name := &yaml.Node{}
			name.SetString(key)
			list = append(list, name, Node(field, text))
		}
	}
	return list
}
