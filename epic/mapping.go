package epic

import (
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// keys are those of a struct: their names, and the indexes of their fields.
type keys struct {
	names  []string
	fields []int

	list, entry string // the key of a list of such structs, and one of them in words
}

// keysOf returns the keys of the fields of a struct.
func keysOf[T any](list, entry string) keys {
	k := keys{list: list, entry: entry}
	t := reflect.TypeFor[T]()
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("yaml"); key != "" {
			k.names, k.fields = append(k.names, key), append(k.fields, i)
		}
	}
	return k
}

// mapping reads a mapping into a struct, key by key. Merge keys (<<) come last, as YAML has it: what the mapping says itself stands.
func (r *reader) mapping(n *yaml.Node, known keys, what string, at *places, to any) {
	fields := reflect.ValueOf(to).Elem()
	var merges []*yaml.Node
	read := func(n *yaml.Node, merged bool) {
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := Follow(n.Content[i]), n.Content[i+1]
			merge := key.Tag == "!!merge"
			if _, again := at.keys[key.Value]; merged && !merge && (again || key.Kind != yaml.ScalarNode) {
				continue
			}
			switch ok := merged && merge || r.key(n.Content[i], known.names, what, at); {
			case ok && merge:
				merges = append(merges, value)
			case ok:
				r.set(fields.Field(known.fields[slices.Index(known.names, key.Value)]).Addr().Interface(), key.Value, value, at)
			}
		}
	}
	read(Follow(n), false)
	for len(merges) > 0 {
		from := Follow(merges[len(merges)-1])
		merges = merges[:len(merges)-1]
		switch from.Kind {
		case yaml.SequenceNode:
			for _, c := range slices.Backward(from.Content) {
				merges = append(merges, c)
			}
		case yaml.MappingNode:
			read(from, true)
		default:
			r.problems.add(placeOf(from), "write <<: *anchor", "only a mapping can be merged")
		}
	}
}

// key checks the key of a mapping, which is good when it is known and new, or a merge key.
func (r *reader) key(n *yaml.Node, known []string, what string, in *places) bool {
	at := placeOf(n)
	n = Follow(n)
	name := n.Value
	before, again := in.keys[name]
	switch {
	case n.Kind != yaml.ScalarNode:
		r.problems.add(at, "", "a key of %s must be a word", what)
		return false
	case again:
		r.problems.add(at, "take one of the two out", "key %s is given twice, first on line %d", plain(name), before.Line)
		return false
	}
	in.keys[name] = at
	if n.Tag != "!!merge" && !slices.Contains(known, name) {
		r.problems.add(at, r.keyHint(name, known), "unknown key %s in %s", plain(name), what)
		return false
	}
	return true
}

func (r *reader) keyHint(name string, known []string) string {
	if strings.Contains(name, " ") && len(known) <= 4 { // a sentence with a colon in it, in a list of sentences
		return `put text that contains ": " in quotes`
	}
	if name == "quality_gate" || name == "relay" {
		return name + " is a setting: it belongs into .agents.yml"
	}
	return r.problems.didYouMean(name, known, "the keys are "+strings.Join(known, ", "))
}
