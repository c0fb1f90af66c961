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

// mapping reads a mapping into a struct, key by key.
func (r *reader) mapping(n *yaml.Node, known keys, what string, at *places, to any) {
	fields, n := reflect.ValueOf(to).Elem(), Follow(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !r.key(n.Content[i], known.names, what, at) {
			continue
		}
		key := Follow(n.Content[i]).Value
		r.set(fields.Field(known.fields[slices.Index(known.names, key)]).Addr().Interface(), key, n.Content[i+1], at)
	}
}

// key checks the key of a mapping, which is good when it is known and new.
func (r *reader) key(n *yaml.Node, known []string, what string, in *places) bool {
	at := placeOf(n)
	n = Follow(n)
	name := n.Value
	before, again := in.keys[name]
	switch {
	case n.Kind != yaml.ScalarNode:
		r.problems.add(at, "", "a key of %s must be a word", what)
		return false
	case n.Tag == "!!merge":
		r.problems.add(at, "write the keys out, or use an alias for the whole value", "merge keys (<<) are not read here")
		return false
	case again:
		r.problems.add(at, "take one of the two out", "key %s is given twice, first on line %d", plain(name), before.Line)
		return false
	}
	in.keys[name] = at
	if !slices.Contains(known, name) {
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
