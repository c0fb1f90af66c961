package epic

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// reader turns YAML nodes into an epic, noting every mistake.
type reader struct {
	problems  *problemList
	epic      *Epic
	parts     []part // of tasks, which are not in the text that is read
	before    int    // lines before the part that is read
	tasksLost bool   // tasks: is something else than tasks, so no name can be looked up

	check   validator
	top     *places
	task    places // of the one that is read
	taskAt  []*places
	groupAt []*places
}

// places remembers where the parts of one mapping stand.
type places struct {
	whole  Place
	keys   map[string]Place
	values map[Field][]Place // of a key: the value itself, then the entries of a list
	deps   []Place           // values of depends_on, and all that is kept of a task when it has been read
}

func newPlaces(whole Place) *places {
	return &places{whole: whole, keys: map[string]Place{}, values: map[Field][]Place{}}
}

func (p *places) add(field Field, at Place) {
	if field == FieldDependsOn {
		p.deps = append(p.deps, at)
		return
	}
	p.values[field] = append(p.values[field], at)
}

func (p *places) at(field Field, item int) Place {
	list := p.values[field]
	if field == FieldDependsOn {
		list = p.deps
	}
	switch {
	case item+1 < len(list):
		return list[item+1]
	case len(list) > 0:
		return list[0]
	}
	return p.whole
}

// where answers validation.
func (r *reader) where(ref Ref) Place {
	switch ref.Part {
	case TaskPart:
		return r.taskAt[ref.N].at(ref.Field, ref.Item)
	case GroupPart:
		return r.groupAt[ref.N].at(ref.Field, ref.Item)
	default:
		return r.top.at(ref.Field, ref.Item)
	}
}

func placeOf(n *yaml.Node) Place { return Place{n.Line, n.Column} }

// Follow returns the node that an alias stands for.
func Follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// ValueAt returns the value of a key of a mapping; nil if it does not have the key.
func ValueAt(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if n := mapping.Content[i]; n.Kind == yaml.ScalarNode && n.Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// IsNull reports whether a value is not there.
func IsNull(n *yaml.Node) bool {
	n = Follow(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// textOf reads a scalar as it is written. Numbers and booleans are text where text is wanted: a title may be 404.
func textOf(p *problemList, n *yaml.Node, what string) (string, bool) {
	at, n := placeOf(n), Follow(n)
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
			return n.Value, true
		}
	}
	p.add(at, "", "%s must be text, not %s", what, KindOf(n))
	return "", false
}

// number reads a number; ok is false when there is none, which is an error unless the value is empty.
func number(p *problemList, n *yaml.Node, what string) (value float64, ok bool) {
	if IsNull(n) {
		return 0, false
	}
	at, n := placeOf(n), Follow(n)
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		p.add(at, "write a number without quotes", "%s must be a number, not %s", what, KindOf(n))
		return 0, false
	}
	if err := n.Decode(&value); err != nil {
		p.add(at, "", "%s is not a number relay can read", what)
		return 0, false
	}
	return value, true
}

func boolean(p *problemList, n *yaml.Node, what string) bool {
	var value bool
	if IsNull(n) {
		return false
	}
	at, n := placeOf(n), Follow(n)
	if n.ShortTag() != "!!bool" || n.Decode(&value) != nil {
		p.add(at, "write true or false", "%s must be true or false, not %s", what, KindOf(n))
	}
	return value
}

// entriesOf returns the entries of a list; an empty value is an empty list.
func entriesOf(p *problemList, n *yaml.Node, what string) []*yaml.Node {
	if IsNull(n) {
		return nil
	}
	at, n := placeOf(n), Follow(n)
	if n.Kind != yaml.SequenceNode {
		hint := "write each entry on a line of its own, after - "
		if n.Kind == yaml.ScalarNode && isWord(n.Value) {
			hint = fmt.Sprintf("write [%s]", n.Value)
		}
		p.add(at, hint, "%s must be a list, not %s", what, KindOf(n))
		return nil
	}
	return n.Content
}

// texts reads a list of texts and remembers the place of each.
func (r *reader) texts(n *yaml.Node, key string, at *places) []string {
	nodes := entriesOf(r.problems, n, key)
	if len(nodes) == 0 {
		return nil
	}
	texts := make([]string, 0, len(nodes))
	for _, item := range nodes {
		if s, ok := textOf(r.problems, item, "an entry of "+key); ok {
			texts = append(texts, s)
			at.add(Field(key), placeOf(item))
		}
	}
	return texts
}

// KindOf says in words what a value is, for messages.
func KindOf(n *yaml.Node) string {
	n = Follow(n)
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default: // a scalar: its tag tells
	}
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return "empty"
	case "!!str", "!!timestamp":
		return "the text " + Quoted(n.Value)
	case "!!int", "!!float":
		return "the number " + plain(n.Value)
	case "!!bool":
		return plain(n.Value)
	default:
		return "a value of type " + plain(strings.TrimPrefix(tag, "!!"))
	}
}
