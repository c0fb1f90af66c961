package artifact

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/internal/lazyregexp"
	"relay/internal/plaintext"
)

// keyOf is a key that needs no quotes, unless it is one of a few words.
var keyOf = lazyregexp.New(`^[a-z][a-z0-9_]*$`)

// quotable is a text on one line that can stand in quotes without any escape: readers that go by lines take off the quotes, and no more.
func quotable(s string) string {
	s = oneLine(s)
	if strings.Contains(s, "'") && strings.ContainsAny(s, `"\`) {
		s = strings.ReplaceAll(s, "'", "’")
	}
	return s
}

func quoted(s string) string {
	if strings.ContainsAny(s, `"\`) {
		return "'" + s + "'"
	}
	return `"` + s + `"`
}

// nodes returns the keys and values of fields, without those that are left out. Texts are without what drives a terminal.
func nodes(fields []field) (list []*yaml.Node) {
	for _, f := range fields {
		n := nodeOf(f.at)
		if f.has("line") {
			n = textNode(oneLine(f.at.String()))
		}
		if decisions, ok := reflect.TypeAssert[[]Decision](f.at); ok && f.has("short") {
			n = short(decisions, n)
		}
		if f.has("required") || len(n.Content) > 0 || n.Kind == yaml.ScalarNode && n.Value != "" && n.Tag != nullTag {
			list = append(list, keyNode(f.key), n)
		}
	}
	return list
}

const nullTag = "!!null"

// short returns decisions as a mapping, or long where that would lose something.
func short(list []Decision, long *yaml.Node) *yaml.Node {
	var m Map
	for _, d := range list {
		if len(d.Alternatives) > 0 || d.WhyThis != "" || len(d.Extra) > 0 {
			return long
		}
		m = append(m, Field{d.Decision, d.Rationale})
	}
	return nodeOf(reflect.ValueOf(m))
}

// nodeOf returns a value as it is written, and text for a type that YAML and JSON do not have.
func nodeOf(at reflect.Value) *yaml.Node {
	for at.Kind() == reflect.Interface || at.Kind() == reflect.Pointer {
		at = at.Elem()
	}
	if !at.IsValid() {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: nullTag, Value: "null"}
	}
	if n := valueNode(at.Interface()); n != nil {
		return n
	}
	switch at.Kind() {
	case reflect.Slice:
		var list []*yaml.Node
		for i := range at.Len() {
			list = append(list, nodeOf(at.Index(i)))
		}
		return collection(yaml.SequenceNode, list)
	case reflect.Struct:
		if extra := at.FieldByName("Extra"); extra.IsValid() {
			list := nodes(fieldsOf(at))
			more, _ := reflect.TypeAssert[Map](extra)
			return collection(yaml.MappingNode, append(list, mapNodes(more, list)...))
		}
	default:
	}
	return textNode(plaintext.Clean(fmt.Sprint(at.Interface())))
}

// valueNode is nodeOf of a value that has a way of its own to be written; nil of any other.
func valueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case json.Number, int, int64, uint64, float64:
		number, _ := json.Marshal(v)
		_, err := strconv.ParseFloat(string(number), 64)
		if n := (&yaml.Node{Kind: yaml.ScalarNode, Value: string(number)}); err == nil && jsonNumber.Match(number) {
			n.Tag = n.ShortTag()
			return n
		}
	case Map:
		return collection(yaml.MappingNode, mapNodes(v, nil))
	case map[string]any:
		var m Map
		for _, key := range slices.Sorted(maps.Keys(v)) {
			m = append(m, Field{key, v[key]})
		}
		return nodeOf(reflect.ValueOf(m))
	case []Note:
		var m Map
		for _, n := range v {
			m = append(m, Field{n.Key, n.Text})
		}
		return nodeOf(reflect.ValueOf(m))
	case Git:
		if oneLine(v.Branch) == "" || oneLine(v.Commit) == "" {
			return nodeOf(reflect.Value{})
		}
	}
	return nil
}

func collection(kind yaml.Kind, content []*yaml.Node) *yaml.Node {
	n := &yaml.Node{Kind: kind, Content: content}
	if len(content) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

// mapNodes returns the keys and values of a Map. Keys that are alike once they are clean, or that are taken, get a number.
func mapNodes(m Map, taken []*yaml.Node) (list []*yaml.Node) {
	used, alike := make(map[string]bool), make(map[string]int)
	for i := 0; i < len(taken); i += 2 {
		used[taken[i].Value] = true
	}
	for _, f := range m {
		base := oneLine(f.Key)
		key := base
		for used[key] {
			alike[base]++
			key = oneLine(fmt.Sprintf("%s (%d)", base, alike[base]+1))
		}
		used[key] = true
		list = append(list, keyNode(key), nodeOf(reflect.ValueOf(f.Value)))
	}
	return list
}

func keyNode(key string) *yaml.Node {
	n := textNode(key)
	if keyOf.MatchString(key) && !slices.Contains(append(oldBooleans(), "true", "false", "null"), key) {
		n.Style = 0
	}
	return n
}

// textNode makes a node of a text: in quotes, or as a block if it has several lines and no reader can mistake them.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	if strings.Contains(s, "\n") && !strings.HasSuffix(s, "\n\n") && strings.TrimLeft(s, " \t\n") == s {
		n.Style = yaml.LiteralStyle
	}
	return n
}
