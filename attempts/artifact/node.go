package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/epic"
	"relay/internal/lazyregexp"
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

// writeMap writes a mapping in block style. Texts of the keys named are written without quotes.
func writeMap(b *bytes.Buffer, m Map, unquoted ...string) error {
	if len(m) == 0 {
		return nil
	}
	n := mapNode(m)
	for i := 0; i < len(n.Content); i += 2 {
		if slices.Contains(unquoted, n.Content[i].Value) {
			n.Content[i+1].Style = 0
		}
	}
	text, err := epic.EncodeNode(n)
	b.Write(text)
	return err
}

func mapNode(m Map) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, f := range m {
		key := textNode(f.Key)
		if keyOf.MatchString(f.Key) && !slices.Contains(append(oldBooleans(), "true", "false", "null"), f.Key) {
			key.Style = 0
		}
		n.Content = append(n.Content, key, nodeOf(f.Value))
	}
	if len(m) == 0 {
		n.Style = yaml.FlowStyle
	}
	return n
}

func nodeOf(v any) *yaml.Node {
	switch v := v.(type) {
	case Map:
		return mapNode(v)
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			n.Content = append(n.Content, nodeOf(item))
		}
		if len(v) == 0 {
			n.Style = yaml.FlowStyle
		}
		return n
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}
	case json.Number:
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
		n.Tag = n.ShortTag()
		return n
	case string:
		return textNode(v)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
}

// textNode makes a node of a text: in quotes, or as a block if it has several lines and no reader can mistake them.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s, Style: yaml.DoubleQuotedStyle}
	if strings.Contains(s, "\n") && !strings.HasSuffix(s, "\n\n") && strings.TrimLeft(s, " \t\n") == s {
		n.Style = yaml.LiteralStyle
	}
	return n
}
