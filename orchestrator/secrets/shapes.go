package secrets

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// rule is one shape of gitleaks.toml. Its expression is compiled when its words first turn up: most never do.
type rule struct {
	ID          string
	Regex       string
	Path        string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	Allowlists  []allowlist

	compiled func() *regexp.Regexp
}

// allowlist says what is no secret although it has the shape of one.
type allowlist struct {
	Regexes     []string
	StopWords   []string
	RegexTarget string // "match", "line" or, for the secret, ""
	Paths       []string
	Condition   string
}

// ruleset is the rules with the means to find out quickly that a text holds none of their words.
type ruleset struct {
	rules []rule
	words []word          // in order
	first [1 << 16]uint16 // by its first two bytes: where in words, and 1; 0: there is none
}

type word struct {
	text  string // lower case
	rules []int
}

// loose are rules that are wrong too often in what agents write: they take names in code, base64 or the hash of a
// commit for a secret. Where only one half of a rule is, the other one stands in further.
var loose = []string{"generic-api-key", "kubernetes-secret-yaml", "sourcegraph-access-token", "square-access-token", "vault-service-token"}

// further are shapes that the rules lack and that agents' own machines have.
var further = []rule{
	{ID: "model-api-key", Regex: `\b(sk-(?:ant|or|proj|svcacct|admin)-[A-Za-z0-9_-]{20,})`, Entropy: 3.5, Keywords: []string{"sk-ant-", "sk-or-", "sk-proj-", "sk-svcacct-", "sk-admin-"}},
	{ID: "square-access-token", Regex: `\b(sq0atp-[\w-]{22,60})`, Keywords: []string{"sq0atp-"}},
	{ID: "vault-service-token", Regex: `\b(hvs\.[\w-]{90,120})`, Keywords: []string{"hvs."}},
	{ID: "sourcegraph-access-token", Regex: `\b(sgp_[A-Za-z0-9_]{40,})`, Keywords: []string{"sgp_"}},
	// A key of which only the beginning or the end is there.
	{ID: "private-key", Regex: `-----BEGIN[ A-Z0-9]{0,50}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s\\:,-]{24,}`, Keywords: []string{"private key"}},
	{ID: "private-key", Regex: `[A-Za-z0-9+/=\s\\]{24,}-----END[ A-Z0-9]{0,50}PRIVATE KEY(?: BLOCK)?-----`, Keywords: []string{"private key"}},
}

// The rules want one of these behind a secret; in prose a full stop, a comma or a bracket stands there just as well.
const (
	strictEnd = "(?:[\\x60'\"\\s;]|\\\\[nr]|$)"
	proseEnd  = "(?:[^0-9A-Za-z_-]|$)"
)

// known are the rules, read when the first text comes that could hold any.
var known = sync.OnceValue(func() *ruleset { //nolint:gochecknoglobals // a table, written once
	var file struct{ Rules []rule }
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic("the rules of gitleaks cannot be read: " + err.Error())
	}
	s := &ruleset{rules: slices.Clone(further)}
	for _, r := range file.Rules {
		if r.Regex != "" && r.Path == "" && len(r.Keywords) > 0 && !slices.Contains(loose, r.ID) {
			s.rules = append(s.rules, r)
		}
	}
	s.index()
	return s
})

func (s *ruleset) index() {
	at := map[string][]int{}
	for i := range s.rules {
		r := &s.rules[i]
		r.compiled = sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(strings.ReplaceAll(r.Regex, strictEnd, proseEnd))
		})
		for _, k := range r.Keywords {
			k = strings.ToLower(k)
			at[k] = append(at[k], i)
		}
	}
	for text, rules := range at {
		s.words = append(s.words, word{text, rules})
	}
	slices.SortFunc(s.words, func(a, b word) int { return strings.Compare(a.text, b.text) })
	for i, w := range slices.Backward(s.words) {
		s.first[int(w.text[0])<<8|int(w.text[1])] = uint16(i + 1)
	}
}

// named lists the rules whose words stand in a text.
func (s *ruleset) named(text string) []int {
	text = strings.ToLower(text)
	seen := make([]bool, len(s.words))
	var rules []int
	for i := 0; i+1 < len(text); i++ {
		at := int(s.first[int(text[i])<<8|int(text[i+1])])
		if at == 0 {
			continue
		}
		for at--; at < len(s.words) && s.words[at].text[:2] == text[i:i+2]; at++ {
			if !seen[at] && strings.HasPrefix(text[i:], s.words[at].text) {
				seen[at] = true
				rules = append(rules, s.words[at].rules...)
			}
		}
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// escapes are what stands before or behind a token in JSON, in a URL and on a terminal: letters that belong to no word.
var escapes = regexp.MustCompile(`\\[nrt]|\\u[0-9a-fA-F]{4}(?:\[[0-9;]*m)?|%[0-9A-Fa-f]{2}|\x1b\[[0-9;]*[A-Za-z]`)

// shapes finds what looks like a token.
func shapes(s string) []span {
	set := known()
	named := set.named(s)
	if len(named) > 0 && strings.ContainsAny(s, "\\%\x1b") {
		s = escapes.ReplaceAllStringFunc(s, func(e string) string { return strings.Repeat(" ", len(e)) })
	}
	var spans []span
	for _, i := range named {
		r := &set.rules[i]
		for _, m := range r.compiled().FindAllStringSubmatchIndex(s, -1) {
			from, to := r.secret(m)
			if from < to && r.serious(s[m[0]:m[1]], s[from:to]) {
				spans = append(spans, span{from, to, r.ID})
			}
		}
	}
	return spans
}

// secret is where in a match the secret is: the group the rule names, else the first that holds anything, else all.
func (r *rule) secret(m []int) (from, to int) {
	if g := 2 * r.SecretGroup; g > 0 && g < len(m) {
		return m[g], m[g+1]
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 && m[g] < m[g+1] {
			return m[g], m[g+1]
		}
	}
	return m[0], m[1]
}

// serious reports whether a match is more than an example or a name.
func (r *rule) serious(match, secret string) bool {
	if r.Entropy > 0 && entropy(secret) <= r.Entropy {
		return false
	}
	for _, a := range r.Allowlists {
		if len(a.Paths) > 0 || a.RegexTarget == "line" {
			continue // neither is known here
		}
		target := secret
		if a.RegexTarget == "match" {
			target = match
		}
		for _, expression := range a.Regexes {
			if ok, err := regexp.MatchString(expression, target); err == nil && ok {
				return false
			}
		}
		lower := strings.ToLower(secret)
		if slices.ContainsFunc(a.StopWords, func(w string) bool { return strings.Contains(lower, strings.ToLower(w)) }) {
			return false
		}
	}
	return true
}

// entropy is Shannon's, in bits for each byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	sum := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
