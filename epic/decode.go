package epic

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// reader turns YAML nodes into an epic, noting every mistake, and remembers no more places than validation may ask for.
type reader struct {
	validator
	broken    bool // the text is no epic at all: nothing more can be said about it
	tasksLost bool // tasks: is something else than tasks, so no name can be looked up

	top     places
	now     places // of the task being read
	item    places // of the check or criterion being read
	nowTask int
	taskAt  []Place
	depAt   []Place // of every entry in a depends_on, one task after the other
	depFrom []int32 // where a task's begin
	groupAt []places
}

// places remembers where the parts of one mapping stand.
type places struct {
	whole  Place
	keys   map[string]Place
	values map[Field][]Place // of a key: the value itself, then the entries of a list
}

func (p *places) reset(whole Place) {
	if p.whole = whole; p.keys == nil {
		p.keys, p.values = map[string]Place{}, map[Field][]Place{}
	}
	clear(p.keys)
	for f, list := range p.values {
		p.values[f] = list[:0]
	}
}

func (p *places) add(field Field, at Place) { p.values[field] = append(p.values[field], at) }

func (p *places) at(field Field, item int) Place {
	switch list := p.values[field]; {
	case item+1 < len(list):
		return list[item+1]
	case len(list) > 0:
		return list[0]
	}
	return p.whole
}

func newReader(name string) *reader {
	r := &reader{nowTask: -1}
	r.validator = validator{problemList: problemList{file: name}, epic: &Epic{}, at: r.where}
	r.top.reset(Place{})
	return r
}

// where answers validation. Only dependencies and group members are asked about after their task has been read.
func (r *reader) where(ref Ref) Place {
	switch {
	case ref.Part == EpicPart:
		return r.top.at(ref.Field, ref.Item)
	case ref.Part == GroupPart:
		return r.groupAt[ref.N].at(ref.Field, ref.Item)
	case ref.N == r.nowTask:
		return r.now.at(ref.Field, ref.Item)
	case ref.Field == FieldDependsOn:
		if k := int(r.depFrom[ref.N]) + ref.Item; k < len(r.depAt) {
			return r.depAt[k]
		}
	}
	return r.taskAt[ref.N]
}

func placeOf(n *yaml.Node) Place { return Place{n.Line, n.Column} }

// fail reports a mistake that leaves nothing to read.
func (r *reader) fail(at Place, hint, format string, args ...any) {
	r.add(at, hint, format, args...)
	r.broken = true
}

// Follow returns the node that an alias stands for.
func Follow(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull reports whether a value is not there.
func IsNull(n *yaml.Node) bool {
	n = Follow(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// text reads a scalar as it is written. Numbers and booleans are text where text is wanted: a title may be 404.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	at, n := placeOf(n), Follow(n)
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
			return n.Value, true
		}
	}
	r.add(at, "", "%s must be text, not %s", what, kindOf(n))
	return "", false
}

// number reads a number; ok is false when there is none, which is an error unless the value is empty.
func (r *reader) number(n *yaml.Node, what string) (value float64, ok bool) {
	if IsNull(n) {
		return 0, false
	}
	at, n := placeOf(n), Follow(n)
	tag := n.ShortTag()
	if n.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
		r.add(at, "write a number without quotes", "%s must be a number, not %s", what, kindOf(n))
		return 0, false
	}
	if err := n.Decode(&value); err != nil {
		r.add(at, "", "%s is not a number relay can read", what)
		return 0, false
	}
	return value, true
}

func (r *reader) boolean(n *yaml.Node, what string) bool {
	var value bool
	if IsNull(n) {
		return false
	}
	at, n := placeOf(n), Follow(n)
	if n.ShortTag() != "!!bool" || n.Decode(&value) != nil {
		r.add(at, "write true or false", "%s must be true or false, not %s", what, kindOf(n))
	}
	return value
}

// list returns the entries of a list; an empty value is an empty list.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	if IsNull(n) {
		return nil
	}
	at, n := placeOf(n), Follow(n)
	if n.Kind != yaml.SequenceNode {
		hint := "write each entry on a line of its own, after - "
		if n.Kind == yaml.ScalarNode && isWord(n.Value) {
			hint = fmt.Sprintf("write [%s]", n.Value)
		}
		r.add(at, hint, "%s must be a list, not %s", what, kindOf(n))
		return nil
	}
	return n.Content
}

// texts reads a list of texts and remembers the place of each.
func (r *reader) texts(n *yaml.Node, key string, at *places) []string {
	nodes := r.list(n, key)
	if len(nodes) == 0 {
		return nil
	}
	texts := make([]string, 0, len(nodes))
	for _, item := range nodes {
		if s, ok := r.text(item, "an entry of "+key); ok {
			texts = append(texts, s)
			at.add(Field(key), placeOf(item))
		}
	}
	return texts
}

func kindOf(n *yaml.Node) string {
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
