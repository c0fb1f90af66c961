package epic

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// keySet notices keys that are unknown or come twice. One is used again for every mapping of its kind.
type keySet struct {
	known []string
	lines map[string]Place
}

func (s *keySet) reset(known []string) {
	s.known = known
	clear(s.lines)
}

// seen notes a key; it returns where the key was before.
func (s *keySet) seen(key string, at Place) (before Place, again bool) {
	if before, again = s.lines[key]; again {
		return before, true
	}
	if s.lines == nil {
		s.lines = map[string]Place{}
	}
	s.lines[key] = at
	return Place{}, false
}

// mapping calls set for every key of a mapping that is known and new. Merge keys (<<) come last, as YAML has it: what
// the mapping says itself stands.
func (r *reader) mapping(n *yaml.Node, keys *keySet, what string, set func(key string, value *yaml.Node, at Place)) {
	var merges []*yaml.Node
	n = resolve(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if name, at, ok := r.key(key, keys, what); ok {
			if name == "<<" {
				merges = append(merges, value)
				continue
			}
			set(name, value, at)
		}
	}
	for len(merges) > 0 {
		from := resolve(merges[len(merges)-1])
		merges = merges[:len(merges)-1]
		if from.Kind == yaml.SequenceNode {
			for _, c := range slices.Backward(from.Content) {
				merges = append(merges, c)
			}
			continue
		}
		if from.Kind != yaml.MappingNode {
			r.add(r.placeOf(from), "write <<: *anchor", "only a mapping can be merged")
			continue
		}
		for i := 0; i+1 < len(from.Content); i += 2 {
			key, value := resolve(from.Content[i]), from.Content[i+1]
			if key.Tag == "!!merge" {
				merges = append(merges, value)
				continue
			}
			if _, again := keys.lines[key.Value]; again || key.Kind != yaml.ScalarNode {
				continue
			}
			if name, at, ok := r.key(key, keys, what); ok {
				set(name, value, at)
			}
		}
	}
}

// key checks the key of a mapping. It returns "<<" for a merge key.
func (r *reader) key(n *yaml.Node, keys *keySet, what string) (name string, at Place, ok bool) {
	at = r.placeOf(n)
	n = resolve(n)
	if n.Kind != yaml.ScalarNode {
		r.add(at, "", "a key of %s must be a word", what)
		return "", at, false
	}
	name = n.Value
	if before, again := keys.seen(name, at); again {
		r.add(at, "take one of the two out", "key %s is given twice, first on line %d", plain(name), before.Line)
		return "", at, false
	}
	if n.Tag == "!!merge" {
		return "<<", at, true
	}
	if slices.Contains(keys.known, name) {
		return name, at, true
	}
	r.add(at, r.keyHint(name, keys.known), "unknown key %s in %s", plain(name), what)
	return "", at, false
}

func (r *reader) keyHint(name string, known []string) string {
	if strings.Contains(name, " ") && len(known) <= 4 { // a sentence with a colon in it, in a list of sentences
		return `put text that contains ": " in quotes`
	}
	if name == "quality_gate" || name == "relay" {
		return name + " is a setting: it belongs into .agents.yml"
	}
	return r.didYouMean(name, known, "the keys are "+strings.Join(known, ", "))
}
