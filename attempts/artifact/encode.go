package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/attempts/internal/durable"
	"relay/epic"
	"relay/epic/pattern"
)

var (
	versionOf = pattern.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)
	// keyOf is a key that needs no quotes, unless it is one of a few words.
	keyOf = pattern.New(`^[a-z][a-z0-9_]*$`)
)

// quotable is a text on one line that can stand in quotes without any escape: readers that know no YAML take off the quotes, and no more.
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

// nodeOf returns the keys and values of an artifact in their order.
func nodeOf(a *Artifact) *yaml.Node {
	said := *a
	if said.Goal, said.Now = quotable(a.Goal), quotable(a.Now); !versionOf.MatchString(a.Version) {
		said.Version = SchemaVersion
	}
	if a.Git != nil && (oneLine(a.Git.Branch) == "" || oneLine(a.Git.Commit) == "") {
		said.Git = nil
	}
	n := durable.Node(reflect.ValueOf(said), textNode)
	fit(n, reflect.TypeFor[Artifact](), false)
	n.Content = withoutEmpty(n.Content)
	style(n)
	return n
}

// withoutEmpty leaves out texts that are empty once they are clean.
func withoutEmpty(pairs []*yaml.Node) (list []*yaml.Node) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if v := pairs[i+1]; v.Kind != yaml.ScalarNode || v.Value != "" {
			list = append(list, pairs[i], v)
		}
	}
	return list
}

// style lays keys out such that all readers take them alike.
func style(n *yaml.Node) {
	for i, item := range n.Content {
		style(item)
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			*item = *textNode(oneLine(item.Value))
			if keyOf.MatchString(item.Value) && !slices.Contains(append(oldBooleans(), "true", "false", "null"), item.Value) {
				item.Style = 0
			}
		}
	}
}

// Encode returns the text of an artifact's file. It removes what drives a terminal, and what is not UTF-8, from texts. It fails for an
// artifact that [Schema] refuses.
func (v *Validator) Encode(a *Artifact) ([]byte, error) {
	n := nodeOf(a)
	value, err := valueOf(n)
	if err != nil {
		return nil, err
	}
	if problems := durable.Sentences(v.check(value)); len(problems) > 0 {
		return nil, fmt.Errorf("the artifact is invalid: %s", strings.Join(problems, "; "))
	}
	at := 0
	for ; n.Content[at].Value != "goal"; at += 2 {
		if key := n.Content[at].Value; key == "mode" || key == "outcome" {
			n.Content[at+1].Style = 0
		}
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	err = write(&b, n.Content[:at])
	fmt.Fprintf(&b, "---\n\ngoal: %s\nnow: %s\n", quoted(quotable(a.Goal)), quoted(quotable(a.Now)))
	if body := n.Content[at+4:]; len(body) > 0 {
		err = errors.Join(err, write(&b, body))
	}
	if err == nil && b.Len() > MaxSize {
		err = fmt.Errorf("the artifact has %d bytes, and may have %d", b.Len(), MaxSize)
	}
	return b.Bytes(), err
}

func write(b *bytes.Buffer, pairs []*yaml.Node) error {
	text, err := epic.EncodeNode(&yaml.Node{Kind: yaml.MappingNode, Content: pairs})
	b.Write(text)
	return err
}
