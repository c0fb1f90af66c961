package discussion

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"relay/attempts/internal/durable"
	"relay/epic"
)

// ErrForm means that nothing can be added to a file in the form it has, as one with aliases, without losing something of it.
var ErrForm = errors.New("nothing can be added to it in the form it has")

// textNode makes a node of a text. The library cannot read its own blocks of lines that begin with a space or a line end.
func textNode(s string) *yaml.Node {
	n := &yaml.Node{}
	if n.SetString(s); strings.TrimLeft(s, " \t\n") != s {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// encode returns the text of a node.
func encode(of *yaml.Node) ([]byte, error) {
	text, err := epic.EncodeNode(of)
	if err == nil && len(text) > MaxSize {
		err = fmt.Errorf("the entry would have %d bytes, and may have %d", len(text), MaxSize)
	}
	return text, err
}

// text returns the changed document as text. It fails with ErrForm where that would lose something.
func (d *document) text() ([]byte, error) {
	text, err := encode(d.file)
	if err != nil {
		return nil, err
	}
	if !Grown(d.raw, text) {
		return nil, ErrForm
	}
	return text, nil
}

// set gives a key a value.
func (d *document) set(key, value string) {
	n := textNode(value)
	old := epic.ValueAt(d.root, key)
	switch {
	case old == nil:
		d.root.Content = append(d.root.Content, textNode(key), n)
		return
	case old.Kind == yaml.ScalarNode:
		n.Style = old.Style
	}
	n.HeadComment, n.LineComment, n.FootComment = old.HeadComment, old.LineComment, old.FootComment
	*old = *n
}

// add adds an item to a list, behind all others.
func (d *document) add(key string, item any) error {
	list := epic.ValueAt(d.root, key)
	if list == nil {
		d.set(key, "")
		list = epic.ValueAt(d.root, key)
	}
	switch {
	case list.Kind == yaml.SequenceNode:
	case isNull(list) || list.Kind == yaml.ScalarNode && list.Value == "":
		list.Kind, list.Tag, list.Value, list.Style = yaml.SequenceNode, "", "", 0
	default:
		return ErrForm
	}
	if len(list.Content) == 0 {
		list.Style = 0
	}
	list.Content = append(list.Content, durable.Node(reflect.ValueOf(item), textNode))
	return nil
}

// sameNode reports whether two values are the same, whatever their style and the comments beside them.
func sameNode(x, y *yaml.Node) bool {
	return x.Kind == y.Kind && x.Value == y.Value && x.ShortTag() == y.ShortTag() && x.Anchor == y.Anchor &&
		slices.EqualFunc(x.Content, y.Content, sameNode)
}

// Grown reports whether an entry was only added to: it has all that it had before, but for another status. It is false for a text that
// cannot be read.
func Grown(before, after []byte) bool {
	was, err := parse(before)
	if err != nil {
		return false
	}
	is, err := parse(after)
	if err != nil {
		return false
	}
	for i := 0; i+1 < len(was.root.Content); i += 2 {
		key, old := was.root.Content[i].Value, was.root.Content[i+1]
		now := epic.ValueAt(is.root, key)
		if key == keyStatus && now != nil {
			continue
		}
		if now == nil || !sameNode(old, now) && !growsTo(old, now) {
			return false
		}
	}
	return true
}

// growsTo reports whether a list begins with all items of another one. One that is empty or null can be any list.
func growsTo(was, is *yaml.Node) bool {
	return is.Kind == yaml.SequenceNode && len(is.Content) >= len(was.Content) && (was.Kind == yaml.SequenceNode || isNull(was)) &&
		slices.EqualFunc(was.Content, is.Content[:len(was.Content)], sameNode)
}
