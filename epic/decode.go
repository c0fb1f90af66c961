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
	topKeys keySet
	now     places // of the task being read
	nowTask int
	nowKeys keySet
	itemKey keySet // of the check, criterion or group being read
	taskAt  []Place
	depAt   []Place // of every entry in a depends_on, one task after the other
	depFrom []int32 // where a task's begin
	groupAt []groupPlaces
}

// places remembers where the parts of one task, or the top level, stand.
type places struct {
	whole Place
	field [fieldCount]Place
	items [fieldCount][]Place
}

type groupPlaces struct {
	whole              Place
	members, blockedBy []Place
}

func (p *places) reset(whole Place) {
	p.whole = whole
	clear(p.field[:])
	for f := range p.items {
		p.items[f] = p.items[f][:0]
	}
}

func (p *places) at(field Field, item int) Place {
	if item < len(p.items[field]) {
		return p.items[field][item]
	}
	if p.field[field] != (Place{}) {
		return p.field[field]
	}
	return p.whole
}

func newReader(name string) *reader {
	r := &reader{nowTask: -1}
	r.validator = validator{problemList: problemList{file: name}, epic: &Epic{}, at: r.where}
	r.topKeys.known, r.nowKeys.known = epicKeys, taskKeys
	return r
}

// where answers validation. Only dependencies and group members are asked about after their task has been read.
func (r *reader) where(ref Ref) Place {
	switch {
	case ref.Part == EpicPart:
		return r.top.at(ref.Field, ref.Item)
	case ref.Part == GroupPart:
		at := &r.groupAt[ref.N]
		if ref.Field == FieldMembers && ref.Item < len(at.members) {
			return at.members[ref.Item]
		}
		if ref.Field == FieldBlockedBy && ref.Item < len(at.blockedBy) {
			return at.blockedBy[ref.Item]
		}
		return at.whole
	case ref.N == r.nowTask:
		return r.now.at(ref.Field, ref.Item)
	case ref.Field == FieldDependsOn:
		if k := int(r.depFrom[ref.N]) + ref.Item; k < len(r.depAt) {
			return r.depAt[k]
		}
	}
	return r.taskAt[ref.N]
}

func (r *reader) placeOf(n *yaml.Node) Place { return Place{n.Line, n.Column} }

// fail reports a mistake that leaves nothing to read.
func (r *reader) fail(at Place, hint, format string, args ...any) {
	r.add(at, hint, format, args...)
	r.broken = true
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = resolve(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// text reads a scalar as it is written. Numbers and booleans are text where text is wanted: a title may be 404.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	at, n := r.placeOf(n), resolve(n)
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
	if isNull(n) {
		return 0, false
	}
	at, n := r.placeOf(n), resolve(n)
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
	if isNull(n) {
		return false
	}
	at, n := r.placeOf(n), resolve(n)
	if n.ShortTag() != "!!bool" || n.Decode(&value) != nil {
		r.add(at, "write true or false", "%s must be true or false, not %s", what, kindOf(n))
	}
	return value
}

// list returns the entries of a list; an empty value is an empty list.
func (r *reader) list(n *yaml.Node, what string) []*yaml.Node {
	if isNull(n) {
		return nil
	}
	at, n := r.placeOf(n), resolve(n)
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
func (r *reader) texts(n *yaml.Node, what string, at *[]Place) []string {
	nodes := r.list(n, what)
	if len(nodes) == 0 {
		return nil
	}
	texts := make([]string, 0, len(nodes))
	for _, item := range nodes {
		if s, ok := r.text(item, "an entry of "+what); ok {
			texts = append(texts, s)
			*at = append(*at, r.placeOf(item))
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
		return "the text " + quoted(n.Value)
	case "!!int", "!!float":
		return "the number " + plain(n.Value)
	case "!!bool":
		return plain(n.Value)
	default:
		return "a value of type " + plain(strings.TrimPrefix(tag, "!!"))
	}
}
