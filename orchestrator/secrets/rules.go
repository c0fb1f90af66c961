package secrets

import (
	"regexp"
	"slices"
	"strings"
	"sync"

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

// allowlist says what is no secret although it has the shape of one.
type allowlist struct {
	Regexes     []string
	StopWords   []string
	RegexTarget string // "match", "line" or, for the secret, ""
	Paths       []string
	Condition   string
}

// rule is a shape that is read when its words first turn up, and whose expression is compiled when there is something
// to look at: most never are.
type rule struct {
	shape
	table   string // its part of gitleaks.toml; empty: the shape is relay's own
	reading sync.Once
	needs   []need

	compiling sync.Once
	compiled  *regexp.Regexp
}

// within reports whether a text has what every match of the rule has. If not there is none.
func (r *rule) within(text sought) bool {
	r.reading.Do(r.read)
	return r.Regex != "" && r.Path == "" && !slices.ContainsFunc(r.needs, func(n need) bool { return !n.met(text) })
}

func (r *rule) read() {
	if r.table != "" {
		var file struct{ Rules []shape }
		if err := toml.Unmarshal([]byte(r.table), &file); err != nil {
			panic("the rules of gitleaks cannot be read: " + err.Error())
		}
		r.shape = file.Rules[0]
	}
	r.Regex = strings.ReplaceAll(r.Regex, strictEnd, proseEnd)
	r.needs = needsOf(r.Regex)
}

// expression is what a rule that was read looks for.
func (r *rule) expression() *regexp.Regexp {
	r.compiling.Do(func() { r.compiled = regexp.MustCompile(r.Regex) })
	return r.compiled
}

// ruleset is the rules with the means to find out quickly that a text holds none of their words.
type ruleset struct {
	rules []rule
	words []word        // by pair
	first [pairs]uint16 // by pair: where in words, and 1; 0: there is none
}

type word struct {
	text  string // lower case
	pair  int
	rules []int
}

// A word is found by its first two bytes, five bits of each: enough to tell letters apart.
const pairs = 1 << 10

func pair(a, b byte) int { return int(a&31)<<5 | int(b&31) }

const rulesHead = "[[rules]]"

// known are the rules. Of those of gitleaks only the words are read here, in the way its generator writes them: reading
// all of it takes longer than all else that relay does before its first agent.
var known = sync.OnceValue(func() *ruleset { //nolint:gochecknoglobals // a table, written once
	tables := strings.Split(config.DefaultConfig, rulesHead)[1:]
	s := &ruleset{rules: make([]rule, len(further), len(further)+len(tables))}
	for i := range further {
		s.rules[i].shape = further[i]
	}
	for _, table := range tables {
		words := quoted(table, "keywords")
		if len(words) == 0 || slices.Contains(loose, strings.Join(quoted(table, "id"), "")) {
			continue
		}
		s.rules = s.rules[:len(s.rules)+1]
		r := &s.rules[len(s.rules)-1]
		r.Keywords, r.table = words, rulesHead+table
	}
	s.index()
	return s
})

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

func (s *ruleset) index() {
	at := map[string][]int{}
	for i := range s.rules {
		for _, k := range s.rules[i].Keywords {
			k = strings.ToLower(k)
			at[k] = append(at[k], i)
		}
	}
	s.words = make([]word, 0, len(at))
	for text, rules := range at {
		s.words = append(s.words, word{text, pair(text[0], text[1]), rules})
	}
	slices.SortFunc(s.words, func(a, b word) int { return a.pair - b.pair })
	for i, w := range slices.Backward(s.words) {
		s.first[w.pair] = uint16(i + 1)
	}
}

// named lists the rules whose words stand in a text in lower case.
func (s *ruleset) named(text string) []int {
	var seen []bool
	var rules []int
	for i := 0; i+1 < len(text); i++ {
		p := pair(text[i], text[i+1])
		at := int(s.first[p])
		if at == 0 {
			continue
		}
		for at--; at < len(s.words) && s.words[at].pair == p; at++ {
			if !strings.HasPrefix(text[i:], s.words[at].text) || seen != nil && seen[at] {
				continue
			}
			if seen == nil {
				seen = make([]bool, len(s.words))
			}
			seen[at] = true
			rules = append(rules, s.words[at].rules...)
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}
