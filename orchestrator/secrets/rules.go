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

// allowlist describes matches that are not secrets.
type allowlist struct {
	Regexes     []string
	StopWords   []string
	RegexTarget string // "match", "line" or, for the secret, ""
	Paths       []string
}

// rule is a shape whose expression is compiled at its first use: most never are.
type rule struct {
	shape
	expression func() *regexp.Regexp
}

// ruleset holds the rules, and their words by pair.
type ruleset struct {
	rules []rule
	words [1 << 10][]word
}

// pair is made of the first two bytes of a text, five bits of each: enough to tell letters apart.
func pair(text string) int { return int(text[0]&31)<<5 | int(text[1]&31) }

// word is a word in lower case that every match of a rule has near it.
type word struct {
	text string
	rule int
}

// known returns the rules for texts: relay's own, and those of gitleaks without loose ones.
var known = sync.OnceValue(func() *ruleset { //nolint:gochecknoglobals // a table, written once
	var file struct{ Rules []shape }
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic("the rules of gitleaks cannot be read: " + err.Error())
	}
	theirs := slices.DeleteFunc(file.Rules, func(s shape) bool { return s.Regex == "" || s.Path != "" || slices.Contains(loose, s.ID) })
	set := &ruleset{}
	for i, s := range slices.Concat(further, theirs) {
		expression := strings.ReplaceAll(s.Regex, strictEnd, proseEnd)
		set.rules = append(set.rules, rule{s, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })})
		if s.ID == "jwt" {
			s.Keywords = []string{".ey"} // "ey" is in most texts
		}
		for _, w := range s.Keywords {
			w = strings.ToLower(w)
			set.words[pair(w)] = append(set.words[pair(w)], word{w, i})
		}
	}
	return set
})

// named lists the rules whose words stand in a text.
func (s *ruleset) named(text string) (rules []int) {
	text = strings.ToLower(text)
	for i := range max(len(text)-1, 0) {
		for _, w := range s.words[pair(text[i:])] {
			if strings.HasPrefix(text[i:], w.text) && !slices.Contains(rules, w.rule) {
				rules = append(rules, w.rule)
			}
		}
	}
	slices.Sort(rules)
	return rules
}
