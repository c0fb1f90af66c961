package secrets

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// shape is a rule as gitleaks.toml has it.
type shape struct {
	ID          string
	Regex       string
	Path        string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	Allowlists  []allowlist
}

// allowlist records what is no secret although it has the shape of one.
type allowlist struct {
	Regexes     []string
	StopWords   []string
	RegexTarget string // "match", "line" or, for the secret, ""
	Paths       []string
	Condition   string
}

// rule is a shape with what every match of it has.
type rule struct {
	shape
	needs []need

	compiling sync.Once
	compiled  *regexp.Regexp
}

// newRule returns the rule of a shape; nil if it is none for texts.
func newRule(s shape) *rule {
	if s.Regex == "" || s.Path != "" {
		return nil
	}
	s.Regex = strings.ReplaceAll(s.Regex, strictEnd, proseEnd)
	return &rule{shape: s, needs: needsOf(s.Regex)}
}

// within reports whether a text has what every match of the rule has. If not there is none.
func (r *rule) within(text sought) bool {
	return !slices.ContainsFunc(r.needs, func(n need) bool { return !n.met(text) })
}

// expression returns the expression of the rule. It is compiled when there is something to look at: most never are.
func (r *rule) expression() *regexp.Regexp {
	r.compiling.Do(func() { r.compiled = regexp.MustCompile(r.Regex) })
	return r.compiled
}

// ruleset is the rules with the means to find out quickly that a text holds none of their words. A rule is read when one
// of them first turns up.
type ruleset struct {
	words []word        // by pair
	first [pairs]uint16 // by pair: where in words, and 1; 0: there is none

	tables []string // of gitleaks.toml
	mu     sync.Mutex
	read   map[int]*rule
}

// word names a rule, of relay's own ones, and then of tables.
type word struct {
	text string // lower case
	pair int
	rule int
}

// A word is found by its first two bytes, five bits of each: enough to tell letters apart.
const pairs = 1 << 10

func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

const rulesHead = "[[rules]]"

// known are the rules. Of those of gitleaks only the words are read here, in the way its generator writes them: reading
// all of it takes longer than all else that relay does before its first agent.
var known = sync.OnceValue(func() *ruleset { //nolint:gochecknoglobals // a table, written once
	s := &ruleset{tables: strings.Split(config.DefaultConfig, rulesHead)[1:], read: map[int]*rule{}}
	for i := range further {
		s.add(i, further[i].Keywords)
	}
	for i, table := range s.tables {
		if words := quoted(table, "keywords"); len(words) > 0 && !slices.Contains(loose, strings.Join(quoted(table, "id"), "")) {
			s.add(len(further)+i, words)
		}
	}
	slices.SortFunc(s.words, func(a, b word) int { return a.pair - b.pair })
	for i, w := range slices.Backward(s.words) {
		s.first[w.pair] = uint16(i + 1)
	}
	return s
})

func (s *ruleset) add(rule int, words []string) {
	for _, w := range words {
		w = strings.ToLower(w)
		s.words = append(s.words, word{w, pair(w[0], w[1]), rule})
	}
}

// rule returns a rule that was named; nil if it is none for texts.
func (s *ruleset) rule(i int) *rule {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.read[i]; ok {
		return r
	}
	if i < len(further) {
		s.read[i] = newRule(further[i])
	} else {
		var file struct{ Rules []shape }
		if err := toml.Unmarshal([]byte(rulesHead+s.tables[i-len(further)]), &file); err != nil {
			panic("the rules of gitleaks cannot be read: " + err.Error())
		}
		s.read[i] = newRule(file.Rules[0])
	}
	return s.read[i]
}

// quoted lists the strings that a table has under a key.
func quoted(table, key string) (all []string) {
	_, value, _ := strings.Cut(table, "\n"+key+" = ")
	end := "\n"
	if strings.HasPrefix(value, "[") {
		end = "]"
	}
	value, _, _ = strings.Cut(value, end)
	for i, part := range strings.Split(value, `"`) {
		if i%2 == 1 {
			all = append(all, part)
		}
	}
	return all
}

// named lists the rules whose words stand in a text.
func (s *ruleset) named(text string) (rules []int) {
	if !ascii(text) {
		text = strings.ToLower(text) // which makes letters of ASCII out of some others
	}
	for i := 0; i+1 < len(text); i++ {
		p := pair(text[i], text[i+1])
		at := int(s.first[p])
		if at == 0 {
			continue
		}
		for at--; at < len(s.words) && s.words[at].pair == p; at++ {
			if begins(text[i:], s.words[at].text) && !slices.Contains(rules, s.words[at].rule) {
				rules = append(rules, s.words[at].rule)
			}
		}
	}
	slices.Sort(rules)
	return rules
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// begins reports whether a text begins with a word, whatever the case of its letters.
func begins(text, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
